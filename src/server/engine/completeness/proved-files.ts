import { fileOfPiece } from '../../../protocol/piece-path.js';
import { fileOf } from '../../../protocol/test-case.js';
import type { CiRun } from '../ports/ci-runs.js';
import type { Store } from '../ports/store.js';
import type { TestFileList } from '../suites/compare-lists.js';
import { doubtOf, nodesOf, nodeWithOtherKeys, silentNode, subjectOf, type TreeAndKeys } from './checkouts.js';
import { type Evidence, evidenceOf } from './evidence.js';
import { outcomesOf } from './outcomes.js';

/** Files of a list that CI runs of its tree have proved. */
export interface ProvedFiles {
  paths: ReadonlySet<string>;
  /** Those that each proved some, newest first. */
  ciRuns: CiRun[];
  /** The files of the list that are known: all, if the CI runs together had all. */
  listed: ReadonlySet<string>;
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
  const paths = new Set<string>();
  const proving: CiRun[] = [];
  const listed = new Set<string>();
  for (const ciRun of ciRuns) {
    if (decided.size === list.test_files) break;
    const endedHere = await endedIn(store, ciRun, list.digest, at);
    if (!endedHere) continue;
    for (const path of endedHere.keys()) listed.add(path);
    const before = paths.size;
    for (const [path, hasPassed] of endedHere) {
      if (hasPassed === null || decided.has(path)) continue;
      decided.add(path);
      if (hasPassed) paths.add(path);
    }
    if (paths.size > before) proving.push(ciRun);
  }
  return { paths, ciRuns: proving, listed };
}

/** Which files of its queue or split passed in a CI run; null: it tells nothing of them. Null: it is of no use. */
async function endedIn(store: Store, ciRun: CiRun, listDigest: string, at: TreeAndKeys): Promise<Map<string, boolean | null> | null> {
  const subject = subjectOf(ciRun);
  const nodes = await nodesOf(store, ciRun);
  if (!subject || nodeWithOtherKeys(nodes, at) || nodes.some(node => doubtOf(node, at.tree) !== null)) return null;
  const evidence = await evidenceOf(store, subject);
  const { assigned, runs, noTestRan } = evidence;
  if (!assigned || assigned.info.id !== ciRun.plan || assigned.info.list.digest !== listDigest) return null;
  if (assigned.otherList !== null || assigned.isUnnamed || noTestRan || silentNode(comersOf(evidence), nodes) !== null) return null;
  const { passed, skipped, failed, flaky } = outcomesOf(assigned.handed, runs, ciRun.digest);
  const good = new Set([...passed, ...skipped]);
  // A case of a listed file may have failed under its own name, or the file of a listed case.
  const bad = new Set([...failed, ...flaky].flatMap(path => [path, fileOf(path) ?? path]));
  const ended = new Map<string, boolean | null>();
  for (const [path, assignments] of assigned.handed) {
    const file = assigned.hasPieces ? fileOfPiece(path) : path;
    const hasFailed = bad.has(path) || bad.has(fileOf(path) ?? path);
    const hasPassed = hasFailed ? false : good.has(path) ? true : assignments.length > 0 ? false : null;
    const before = ended.get(file);
    // A file passed if each of its pieces did.
    ended.set(file, before === undefined || before === hasPassed ? hasPassed : false);
  }
  return ended;
}

function comersOf({ assigned, runs }: Evidence): Set<number> {
  const came = new Set(runs.map(({ node_index }) => node_index));
  for (const assignments of assigned!.handed.values()) for (const { node_index, at } of assignments) if (at !== null) came.add(node_index);
  return came;
}
