import { type BuildKey, buildDigest } from '../../engine/keys.js';
import type { Build, Builds, Run, RunHead } from '../../engine/ports/builds.js';
import { limits } from '../../limits.js';
import { newestNumber, olderBuilds, pageOfBuilds } from './build-index.js';
import { decodeSubset, subsetCount, subsetHead } from './codecs/subset-codec.js';
import type { Parts } from './parts.js';
import type { BuildRecord, RunKey } from './records.js';
import type { Tables } from './tables.js';

/** The length of a build's id. The other keys of `buildNumbers` are shorter. */
const ID_CHARACTERS = 36;

export function lmdbBuilds(parts: Parts) {
  const { builds, buildNumbers, subsets, nameOfPath, pathNumbers } = parts;
  const build = (number: number | null | undefined): Build | null => {
    const record = typeof number === 'number' ? builds.get(number) : undefined;
    return record ? toBuild(number!, record) : null;
  };
  return {
    get(project, id) {
      const found = id.length === ID_CHARACTERS ? build(buildNumbers.get(id)) : null;
      return found?.project === project ? found : null;
    },
    find: (project: number, key: BuildKey) => build(buildNumbers.get(buildDigest(project, key))),
    newest: (project, filter) => build(newestNumber(parts, project, filter)),
    page(project, filter, page) {
      const { total, numbers } = pageOfBuilds(parts, project, filter, page, limits.buildsPerPage);
      return { total, builds: numbers.map(number => build(number)!) };
    },
    older(project, filter, before, limit) {
      const { total, numbers } = olderBuilds(parts, project, filter, before, limit);
      return { total, builds: numbers.map(number => build(number)!) };
    },
    list: (from, limit) => [...builds.getRange({ start: from, limit })].map(({ key, value }) => toBuild(key, value)),
    runs: (number: number, node_index?: number) =>
      [...subsets.getKeys(node_index === undefined ? runsOf(number) : runsOfNode(number, node_index))].map(key =>
        toRunHead(key, subsets.getBinaryFast(key)!),
      ),
    run(number: number, { node_index, run }: Pick<RunHead, 'node_index' | 'run'>, from?: number, to?: number): Run | null {
      const key: RunKey = [number, node_index, run];
      // Decoded before the next read, which overwrites these bytes.
      const bytes = subsets.getBinaryFast(key);
      if (!bytes) return null;
      const head = toRunHead(key, bytes);
      const { paths, seconds } = decodeSubset(bytes, from, to);
      return { ...head, paths: Array.from(paths, nameOfPath), seconds };
    },
    times(number: number, { node_index, run }: Pick<RunHead, 'node_index' | 'run'>) {
      const bytes = subsets.getBinaryFast([number, node_index, run]);
      return bytes ? decodeSubset(bytes) : null;
    },
    path: nameOfPath,
    pathNumber: (project, path) => pathNumbers.read(project, path) ?? null,
  } satisfies Builds;
}

function toBuild(number: number, record: BuildRecord): Build {
  const { id, project, commit_hash, branch, node_total, created_at, updated_at, recorded, subsets, test_files } = record;
  return {
    id,
    number,
    project,
    commit_hash,
    branch,
    node_total,
    created_at,
    updated_at,
    recorded,
    subsets,
    test_files,
  };
}

function toRunHead([, node_index, run]: RunKey, bytes: Buffer): RunHead {
  const { id, created_at, ordinal, ciRun: ci_run } = subsetHead(bytes);
  return { node_index, run, id, created_at, ordinal, ci_run, test_files: subsetCount(bytes) };
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
