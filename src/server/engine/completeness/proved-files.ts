import { fileOfPiece } from '../../../protocol/piece-path.js';
import { fileOf } from '../../../protocol/test-case.js';
import type { CiRun } from '../ports/ci-runs.js';
import type { Store } from '../ports/store.js';
import type { TestFileList } from '../suites/compare-lists.js';
import { nodesWithFiles } from './assigned.js';
import { doubtOfNodes, nodesOf, nodeWithOtherKeys, silentNode, subjectOf, type TreeAndKeys } from './checkouts.js';
import { type Evidence, evidenceOf } from './evidence.js';
import { outcomesOf } from './outcomes.js';

/** Files of a list that CI runs of its tree have proved. */
export interface ProvedFiles {
  files: ReadonlyMap<string, ProvedFile>;
  /** The CI runs that each proved some, newest first. */
  ciRuns: CiRun[];
  /** The files of the list that are known: all, if the CI runs together had all. */
  listed: ReadonlySet<string>;
}

export interface ProvedFile {
  ended: Proved;
  /** What it took in the CI run that proved it. */
  seconds: number;
}

type Proved = 'passed' | 'skipped';
/**
 * `unproved`: it failed in some way, or nobody told how it ended. `unknown`: it was never handed out. `failed unasked`: the queue does not have it,
 * but a node ran it, as in fallback, and it failed.
 */
type Ended = Proved | 'unproved' | 'unknown' | 'failed unasked';

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
  const files = new Map<string, ProvedFile>();
  const proving: CiRun[] = [];
  const listed = new Set<string>();
  for (const ciRun of ciRuns) {
    if (listed.size === list.test_files && [...listed].every(path => decided.has(path))) break;
    const before = files.size;
    const { byFile, seconds } = await endedIn(store, ciRun, list.digest, at);
    for (const [path, ended] of byFile) {
      // It may be no file of the list.
      if (ended !== 'failed unasked') listed.add(path);
      if (ended === 'unknown' || decided.has(path)) continue;
      decided.add(path);
      if (isProved(ended)) files.set(path, { ended, seconds: seconds.get(path) ?? 0 });
    }
    if (files.size > before) proving.push(ciRun);
  }
  return { files, ciRuns: proving, listed };
}

interface EndedFiles {
  byFile: ReadonlyMap<string, Ended>;
  /** What the files took, those of the list and others. */
  seconds: ReadonlyMap<string, number>;
}

const NOTHING: EndedFiles = { byFile: new Map(), seconds: new Map() };

/** How the files of a CI run ended: those of its queue or split, and others that failed. Empty: something speaks against the whole CI run. */
async function endedIn(store: Store, ciRun: CiRun, listDigest: string, at: TreeAndKeys): Promise<EndedFiles> {
  const subject = subjectOf(ciRun);
  const nodes = await nodesOf(store, ciRun);
  if (!subject || nodeWithOtherKeys(nodes, at) || doubtOfNodes(nodes, at.tree) !== null) return NOTHING;
  const evidence = await evidenceOf(store, subject);
  const { assigned, runs, told, noTestRan } = evidence;
  if (!assigned || assigned.info.id !== ciRun.plan || assigned.info.list.digest !== listDigest) return NOTHING;
  // Nodes may have run on another tree, or tests of other files. Then only what failed counts.
  const isSure = assigned.otherList === null && !assigned.isUnnamed && !noTestRan && silentNode(comersOf(evidence), nodes) === null;
  const { failed, muted, flaky, ...good } = outcomesOf(assigned.handed, told, ciRun.digest);
  const [passed, skipped] = [new Set(good.passed), new Set(good.skipped)];
  // A case of a listed file may have failed under its own name, or the file of a listed case.
  const bad = new Set([...failed, ...muted, ...flaky].flatMap(path => [path, fileOf(path) ?? path]));
  const ended = new Map<string, Ended>();
  const wholeFile = (path: string) => (assigned.hasPieces ? fileOfPiece(path) : path);
  for (const [path, assignments] of assigned.handed) {
    const file = wholeFile(path);
    const hasFailed = bad.has(path) || bad.has(fileOf(path) ?? path);
    const own = hasFailed
      ? 'unproved'
      : !isSure
        ? 'unknown'
        : passed.has(path)
          ? 'passed'
          : skipped.has(path)
            ? 'skipped'
            : assignments.length > 0
              ? 'unproved'
              : 'unknown';
    ended.set(file, together(ended.get(file) ?? own, own));
  }
  for (const path of bad) {
    const file = wholeFile(path);
    ended.set(file, ended.has(file) ? 'unproved' : 'failed unasked');
  }
  const seconds = new Map<string, number>();
  for (const { paths, seconds: took, ci_run } of runs) {
    if (ci_run !== ciRun.digest) continue;
    for (const [i, path] of paths.entries()) seconds.set(wholeFile(path), (seconds.get(wholeFile(path)) ?? 0) + took[i]!);
  }
  return { byFile: ended, seconds };
}

function isProved(ended: Ended): ended is Proved {
  return ended === 'passed' || ended === 'skipped';
}

/** How a file ended of which two pieces ended like this. */
function together(one: Ended, other: Ended): Ended {
  if (one === other) return one;
  return isProved(one) && isProved(other) ? 'passed' : 'unproved';
}

function comersOf({ assigned, runs }: Evidence): Set<number> {
  return new Set([...runs.map(({ node_index }) => node_index), ...nodesWithFiles(assigned!)]);
}
