import { limits } from '../../protocol/limits.js';
import { pieceOf } from '../../protocol/piece-path.js';
import { median } from '../planning/estimating/median.js';
import type { BuildFilter, BuildKey, NodeKey } from './keys.js';
import { beginningOf, isAfter, type Moment } from './moment.js';
import { joinPieces } from './pieces/join-pieces.js';
import type { Build, Builds, Run, RunHead } from './ports/builds.js';
import type { Store } from './ports/store.js';
import { Refusal } from './refusal.js';
import { hasRun, type RecordedTestFile } from './test-file.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The build of a project by its id in the API, in upper or lower case; null: there is none. */
export async function buildWithId(builds: Builds, project: number, id: string): Promise<Build | null> {
  const uuid = uuidOf(id);
  return uuid === null ? null : builds.get(project, uuid);
}

/** An id of the API in lower case; null: it is no UUID, so nothing has it, and a store may not be able to look it up. */
export function uuidOf(id: string): string | null {
  const uuid = id.toLowerCase();
  return UUID.test(uuid) ? uuid : null;
}

/** The newest build that a filter finds; null: it finds none. */
export async function newestBuild(builds: Builds, project: number, filter: BuildFilter): Promise<Build | null> {
  const [build = null] = await builds.list(project, filter, { limit: 1 });
  return build;
}

/**
 * The build that most closely matches: the same commit, branch and node_total; else the newest of the same branch and node_total; of
 * the same branch; of the project. Null when the project has none.
 */
export async function closestBuild(builds: Builds, project: number, key: BuildKey): Promise<Build | null> {
  const { commit_hash, branch, node_total } = key;
  for (const filter of [{ commit_hash, branch, node_total }, { branch, node_total }, { branch }, {}]) {
    const build = await newestBuild(builds, project, filter);
    if (build) return build;
  }
  return null;
}

/** The runs of a build, by node and in the order of recording. Throws a 422 when they do not fit in memory. */
export async function* boundedRuns(builds: Builds, build: Build, heads: readonly RunHead[]): AsyncGenerator<Run> {
  const files = heads.reduce((sum, { test_files }) => sum + test_files, 0);
  if (files > limits.mergedTestFiles) throw tooLarge('recorded test files', limits.mergedTestFiles);
  const paths = new Set<string>();
  let characters = 0;
  for (const head of heads) {
    const run = await builds.run(build.number, head);
    if (!run) continue;
    for (const path of run.paths) {
      if (paths.has(path)) continue;
      paths.add(path);
      characters += path.length;
    }
    if (characters > limits.mergedCharacters) throw tooLarge('characters of paths', limits.mergedCharacters);
    yield run;
  }
}

/** The paths that a node has recorded since a moment, but not as run. */
export async function pathsNotRun(builds: Builds, project: number, node: NodeKey, since: Moment): Promise<Set<string>> {
  const build = await builds.find(project, node);
  const haveRun = new Map<string, boolean>();
  for (const head of build ? await builds.runs(build.number, node.node_index) : []) {
    const run = isAfter(head, since) ? await builds.run(build!.number, head) : null;
    if (!run) continue;
    for (const [i, path] of run.paths.entries()) haveRun.set(path, haveRun.get(path) === true || hasRun(run.seconds[i]!));
  }
  return new Set([...haveRun].filter(([, ran]) => !ran).map(([path]) => path));
}

/** The runs that a node recorded in a build, in the order of recording. */
export async function runsOf(builds: Builds, project: number, node: NodeKey): Promise<RunHead[]> {
  const build = await builds.find(project, node);
  return build ? builds.runs(build.number, node.node_index) : [];
}

/** The id of the last run of a node that was recorded after a moment; null: there is none. */
export async function lastRunId(builds: Builds, project: number, node: NodeKey, since: Moment): Promise<string | null> {
  const last = (await runsOf(builds, project, node)).at(-1);
  return last && isAfter(last, since) ? last.id : null;
}

/** Since when a build is known to run without pieces; null: its newest CI run has some, or none of its CI runs is known. */
export async function uncutSince({ ciRuns, queues }: Pick<Store, 'ciRuns' | 'queues'>, build: Build): Promise<Moment | null> {
  const [ciRun] = await ciRuns.newest(build.project, [build]);
  if (!ciRun) return null;
  const queue = ciRun.kind === 'queue' ? await queues.newest(build.project, build) : null;
  return queue?.list.pieces_for === undefined ? beginningOf(ciRun) : null;
}

/** Counts the runs of a build that were ever recorded. */
export async function runsRecorded(builds: Builds, project: number, key: BuildKey): Promise<number> {
  return (await builds.find(project, key))?.recorded ?? 0;
}

/** The refusal to read more of a build than fits in memory. */
export function tooLarge(what: string, limit: number): Refusal {
  return new Refusal(
    `cannot merge or compare the runs of the build: they have more than ${limit} ${what}; read its runs one by one with GET /v1/builds/:id`,
  );
}

type Times = Pick<Run, 'paths' | 'seconds' | 'ordinal'>;

/**
 * Merges the runs of a build into one list, slowest first. Each path has the median of its measured times, or 0 if it was
 * only scheduled. The runs of a node are retries of the same files, so their times are not summed. A file that ran only in pieces has the
 * sum of their times, or 0 if not all of them were recorded.
 *
 * @param uncutSince since when the build is known to run without pieces: a path of their form that was recorded later is a file with such a name;
 * null: it is not known, and each is a piece
 */
export async function mergeRuns(runs: AsyncIterable<Times> | Iterable<Times>, uncutSince: Moment | null): Promise<RecordedTestFile[]> {
  const times = new Map<string, number[]>();
  const namedAsPieces = new Set<string>();
  for await (const run of runs) {
    const { paths, seconds } = run;
    const isUncut = uncutSince !== null && isAfter(run, uncutSince);
    for (const [i, path] of paths.entries()) {
      if (isUncut && pieceOf(path)) namedAsPieces.add(path);
      let measured = times.get(path);
      if (!measured) times.set(path, (measured = []));
      if (seconds[i]! > 0) measured.push(seconds[i]!);
    }
  }
  const seconds = new Map(Array.from(times, ([path, measured]) => [path, median(measured)]));
  const pieces = [...seconds].flatMap(([path, ofPath]) => {
    const piece = namedAsPieces.has(path) ? null : pieceOf(path);
    return piece ? { ...piece, path, seconds: ofPath } : [];
  });
  const joined = joinPieces(pieces);
  for (const { path, file } of pieces) {
    seconds.delete(path);
    if (!seconds.has(file)) seconds.set(file, joined.get(file) ?? 0);
  }
  return [...seconds]
    .map(([path, time_execution]) => ({ path, time_execution }))
    .sort((a, b) => b.time_execution - a.time_execution || (a.path < b.path ? -1 : 1));
}
