import { pieceOf } from '../../../protocol/piece-path.js';
import { type BuildKey, buildDigest } from '../../engine/keys.js';
import type { Build, Builds, Run, RunHead } from '../../engine/ports/builds.js';
import { rangeOfPieces } from '../codecs/path-keys.js';
import { fileCount, timesOf } from '../codecs/run-times.js';
import { buildCount, numbersOf } from './build-index.js';
import type { Parts } from './parts.js';
import type { RunKey, RunRecord } from './records.js';
import type { Tables } from './tables.js';

/** The length of a build's id. The other keys of `buildNumbers` are shorter. */
const ID_CHARACTERS = 36;

export function lmdbBuilds(parts: Parts) {
  const { builds, buildNumbers, subsets, nameOfPath, pathNumbers } = parts;
  const build = (number: number | undefined): Build | null => {
    const record = number === undefined ? undefined : builds.get(number);
    return record ? { number: number!, ...record } : null;
  };
  return {
    get(project, id) {
      const found = id.length === ID_CHARACTERS ? build(buildNumbers.get(id)) : null;
      return found?.project === project ? found : null;
    },
    find: (project: number, key: BuildKey) => build(buildNumbers.get(buildDigest(project, key))),
    list: (project, filter, part) => numbersOf(parts, project, filter, part).map(number => build(number)!),
    count: (project, filter) => buildCount(parts, project, filter),
    all: (from, limit) => [...builds.getRange({ start: from, limit })].map(({ key, value }) => ({ number: key, ...value })),
    runs: (number: number, node_index?: number) =>
      Array.from(subsets.getRange(node_index === undefined ? runsOf(number) : runsOfNode(number, node_index)), ({ key, value }) =>
        toRunHead(key, value),
      ),
    run(number: number, { node_index, run }: Pick<RunHead, 'node_index' | 'run'>, from?: number, to?: number): Run | null {
      const key: RunKey = [number, node_index, run];
      const record = subsets.get(key);
      if (!record) return null;
      const { paths, seconds, outcomes } = timesOf(record, from, to);
      return { ...toRunHead(key, record), paths: Array.from(paths, nameOfPath), seconds, outcomes };
    },
    times(number: number, { node_index, run }: Pick<RunHead, 'node_index' | 'run'>) {
      const record = subsets.get([number, node_index, run]);
      return record ? timesOf(record) : null;
    },
    path: nameOfPath,
    pathNumber: (project, path) => pathNumbers.read(project, path) ?? null,
    pieces: (project, file) =>
      [...parts.paths.getRange(rangeOfPieces(project, file))].flatMap(({ value: path }) => {
        const piece = pieceOf(nameOfPath(path));
        return piece ? { ...piece, path } : [];
      }),
  } satisfies Builds;
}

function toRunHead([, node_index, run]: RunKey, record: RunRecord): RunHead {
  const { id, created_at, ordinal, ci_run, asked_at, has_no_test } = record;
  return { node_index, run, id, created_at, ordinal, ci_run, asked_at, has_no_test, test_files: fileCount(record) };
}

/**
 * The ordinal of the last run of a build that may not exist.
 *
 * @param build see buildDigest
 */
export function runsRecordedOf({ builds, buildNumbers }: Pick<Tables, 'builds' | 'buildNumbers'>, build: string): number {
  const number = buildNumbers.get(build);
  return (number === undefined ? undefined : builds.get(number))?.recorded ?? 0;
}

/** The range of a build's runs in `subsets`. */
export function runsOf(number: number): object {
  return { start: [number, -1], end: [number, Infinity] };
}

export function runsOfNode(number: number, node_index: number): object {
  return { start: [number, node_index, 0], end: [number, node_index, Infinity] };
}

/** Reports whether a node has a run in a build. */
export function hasRun({ subsets }: Pick<Tables, 'subsets'>, number: number, node_index: number): boolean {
  return subsets.getKeysCount({ ...runsOfNode(number, node_index), limit: 1 }) > 0;
}
