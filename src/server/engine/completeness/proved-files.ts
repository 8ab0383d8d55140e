import { fileOfPiece } from '../../../protocol/piece-path.js';
import { fileOf } from '../../../protocol/test-case.js';
import type { Run } from '../ports/builds.js';
import type { CiRun } from '../ports/ci-runs.js';
import type { Store } from '../ports/store.js';
import type { TestFileList } from '../suites/compare-lists.js';
import { doubtOf, nodesOf, nodeWithOtherKeys, silentNode, subjectOf, type TreeAndKeys } from './checkouts.js';
import { type Evidence, evidenceOf } from './evidence.js';
import { outcomesOf } from './outcomes.js';

/** Files of a list that CI runs of its tree have proved. */
export interface ProvedFiles {
  /** How each ended. */
  files: ReadonlyMap<string, Proved>;
  /** What they took. */
  seconds: number;
  /** The CI runs that each proved some, newest first. */
  ciRuns: CiRun[];
  /** The files of the list that are known: all, if the CI runs together had all. */
  listed: ReadonlySet<string>;
}

export type Proved = 'passed' | 'skipped';
/** `unproved`: it failed in some way, or nobody told how it ended. `unknown`: it was never handed out. */
type Ended = Proved | 'unproved' | 'unknown';

interface EndedFile {
  how: Ended;
  seconds: number;
}

/**
 * Finds the files of a list that passed in CI runs of the tree, whole or not: of the CI runs that tell how a file ended, the newest decides. One
 * that failed and passed within that is not proved.
 *
 * @param ciRuns newest first
 */
export async function provedFiles(
  store: Store,
  ciRuns: readonly CiRun[],
  list: Pick<TestFileList, 'digest' | 'test_files'>,
  at: TreeAndKeys,
): Promise<ProvedFiles> {
  const decided = new Set<string>();
  const files = new Map<string, Proved>();
  const proving: CiRun[] = [];
  const listed = new Set<string>();
  let all = 0;
  for (const ciRun of ciRuns) {
    if (decided.size === list.test_files) break;
    const before = files.size;
    for (const [path, { how, seconds }] of await endedIn(store, ciRun, list.digest, at)) {
      listed.add(path);
      if (how === 'unknown' || decided.has(path)) continue;
      decided.add(path);
      if (how === 'unproved') continue;
      files.set(path, how);
      all += seconds;
    }
    if (files.size > before) proving.push(ciRun);
  }
  return { files, seconds: all, ciRuns: proving, listed };
}

const NOTHING: ReadonlyMap<string, EndedFile> = new Map();

/** How the files of the queue or split of a CI run ended. Empty: something speaks against the whole CI run. */
async function endedIn(store: Store, ciRun: CiRun, listDigest: string, at: TreeAndKeys): Promise<ReadonlyMap<string, EndedFile>> {
  const subject = subjectOf(ciRun);
  const nodes = await nodesOf(store, ciRun);
  if (!subject || nodeWithOtherKeys(nodes, at) || nodes.some(node => doubtOf(node, at.tree) !== null)) return NOTHING;
  const evidence = await evidenceOf(store, subject);
  const { assigned, runs, noTestRan } = evidence;
  if (!assigned || assigned.info.id !== ciRun.plan || assigned.info.list.digest !== listDigest) return NOTHING;
  if (assigned.otherList !== null || assigned.isUnnamed || noTestRan || silentNode(comersOf(evidence), nodes) !== null) return NOTHING;
  const { failed, flaky, ...good } = outcomesOf(assigned.handed, runs, ciRun.digest);
  const [passed, skipped] = [new Set(good.passed), new Set(good.skipped)];
  // A case of a listed file may have failed under its own name, or the file of a listed case.
  const bad = new Set([...failed, ...flaky].flatMap(path => [path, fileOf(path) ?? path]));
  const seconds = secondsByPath(runs, ciRun.digest);
  const ended = new Map<string, EndedFile>();
  for (const [path, assignments] of assigned.handed) {
    const file = assigned.hasPieces ? fileOfPiece(path) : path;
    const hasFailed = bad.has(path) || bad.has(fileOf(path) ?? path);
    const own = hasFailed
      ? 'unproved'
      : passed.has(path)
        ? 'passed'
        : skipped.has(path)
          ? 'skipped'
          : assignments.length > 0
            ? 'unproved'
            : 'unknown';
    const before = ended.get(file) ?? { how: own, seconds: 0 };
    ended.set(file, { how: together(before.how, own), seconds: before.seconds + (seconds.get(path) ?? 0) });
  }
  return ended;
}

/** How a file ended of which two pieces ended like this. */
function together(one: Ended, other: Ended): Ended {
  if (one === other) return one;
  const isProved = (ended: Ended) => ended === 'passed' || ended === 'skipped';
  return isProved(one) && isProved(other) ? 'passed' : 'unproved';
}

/** The seconds of each path, as a CI run recorded it last. */
function secondsByPath(runs: readonly Run[], digest: number): Map<string, number> {
  const byPath = new Map<string, number>();
  for (const { ci_run, paths, seconds } of runs)
    if (ci_run === digest) for (const [i, path] of paths.entries()) byPath.set(path, seconds[i]!);
  return byPath;
}

function comersOf({ assigned, runs }: Evidence): Set<number> {
  const came = new Set(runs.map(({ node_index }) => node_index));
  for (const assignments of assigned!.handed.values()) for (const { node_index, at } of assignments) if (at !== null) came.add(node_index);
  return came;
}
