import { randomUUID } from 'node:crypto';
import { type Segments, segment } from '../../base/bytes.js';
import { limits } from '../../protocol/limits.js';
import { pieceOf } from '../../protocol/piece-path.js';
import { fileOf } from '../../protocol/test-case.js';
import type { Caller } from './caller.js';
import { type BuildKey, shortDigest } from './keys.js';
import type { Project } from './ports/access.js';
import type { Build } from './ports/builds.js';
import type { NewRun, Recorded } from './ports/recordings.js';
import type { Millis } from './ports/store.js';
import { codeOf, type RecordedTestFile, UNTIMED } from './test-file.js';

/** A run that is sent again within this time is the same run; after it, another one. */
export const RETRY_WINDOW_MILLISECONDS = 600_000;

/**
 * @param ci_build_id the id of the CI run; undefined: the client named none
 * @param tellsOutcomes a file without an outcome passed
 */
export function newRun(testFiles: readonly RecordedTestFile[], ci_build_id?: string, tellsOutcomes = false): NewRun {
  const paths: string[] = [];
  const seconds: number[] = [];
  let hasTestCases = false;
  let has_no_test = testFiles.length > 0;
  let outcomes = tellsOutcomes ? new Uint8Array(testFiles.length).fill(codeOf('passed')) : null;
  for (const { path, time_execution, ran, no_test = false, outcome } of testFiles) {
    if (outcome !== undefined) (outcomes ??= new Uint8Array(testFiles.length))[paths.length] = codeOf(outcome);
    paths.push(path);
    // A client may send -0.
    seconds.push(time_execution > 0 ? time_execution : ran ? UNTIMED : 0);
    has_no_test &&= no_test && time_execution === 0;
    hasTestCases ||= time_execution > 0 && fileOf(path) !== null && pieceOf(path) === null;
  }
  const ci_run = ci_build_id === undefined ? 0 : shortDigest(ci_build_id);
  return { paths, seconds, outcomes, hasTestCases, has_no_test, ci_run, asked_at: null };
}

/** A path of a run. */
export function pathOf({ paths }: NewRun, i: number): string {
  return Array.isArray(paths) ? (paths as readonly string[])[i]! : segment(paths as Segments, i).toString();
}

/** The last recorded run of a node in a build. */
export interface LastRun {
  created_at: Millis;
  /** The run has the same CI run, test files and times as the new one. */
  isSame: boolean;
  /** The number of runs of the node that are kept. */
  kept: number;
}

/** The outcome of a new run. A client repeats a request for some minutes; a later run is another one, even if it is the same. */
export function outcomeOf(last: LastRun | null, isRetry: boolean, at: Millis): Recorded {
  if (!last) return 'recorded';
  if (isRetry && last.isSame && at - last.created_at < RETRY_WINDOW_MILLISECONDS) return 'already recorded';
  return last.kept >= limits.runsPerNode ? 'retried too often' : 'recorded';
}

/** Clients pause for 1 s or longer before they send a run again. Clocks of processes differ by less than the rest. */
const LEAST_PAUSE_MILLISECONDS = 900;

/** The last recorded run of a node, as a process finds it that is not the only one to record. */
export interface FoundRun extends LastRun {
  /** The run is the new one itself: an earlier attempt of this process recorded it, and got no answer. */
  isItself: boolean;
  /** The client said that it had sent the run before. */
  isRepeated: boolean;
}

/**
 * The outcome of a new run where several processes record; null: it is to be recorded.
 *
 * A client may have repeated the request at another process, which recorded it, and only then came this one to it: perhaps after it stood still, when
 * the client has left. A run of about the same time is another one, unless its client said that it repeats it: clients pause before they repeat. A run
 * of a much later time is of before the clock was set back.
 */
export function outcomeAmongProcesses(last: FoundRun | null, { isRetry, hasLeft }: Caller, at: Millis): Recorded | null {
  if (!last) return null;
  const later = last.created_at - at;
  const isOld = later >= LEAST_PAUSE_MILLISECONDS || (later > 0 && last.isRepeated) || hasLeft();
  const isOvertaken = !isRetry && last.isSame && isOld && Math.abs(later) <= RETRY_WINDOW_MILLISECONDS;
  if (last.isItself || isOvertaken) return 'recorded';
  const outcome = outcomeOf(last, isRetry, at);
  return outcome === 'recorded' ? null : outcome;
}

/** The columns of a build that a recording changes. */
type Counts = Pick<Build, 'updated_at' | 'recorded' | 'subsets' | 'test_files'>;

/**
 * The build that the first run of a build creates; it has no run yet.
 * @param last the build that was created last; undefined: none was
 * @param lastOrdinal the highest ordinal of a run in a build that was deleted
 */
export function newBuild(
  project: number,
  { commit_hash, branch, node_total }: BuildKey,
  last: Pick<Build, 'id' | 'created_at'> | undefined,
  lastOrdinal: number,
  at: Millis,
): Omit<Build, 'number'> {
  // Builds of the same millisecond are listed by id, later ones first.
  const id = last?.created_at === at ? uuidBelow(last.id) : randomUUID();
  const counts: Counts = { updated_at: at, recorded: lastOrdinal, subsets: 0, test_files: 0 };
  return { id, project, commit_hash, branch, node_total, created_at: at, ...counts };
}

/** The counts of a build with another run. `recorded` is the ordinal of that run: ordinals order the runs of a build, not their times. */
export function withRun(build: Counts, testFiles: number, at: Millis): Counts {
  return {
    updated_at: Math.max(at, build.updated_at),
    recorded: build.recorded + 1,
    subsets: build.subsets + 1,
    test_files: build.test_files + testFiles,
  };
}

/** A build without a run that expired; null: that was its last run, and the build goes with it. */
export function withoutRun({ subsets, test_files }: Counts, testFiles: number): Pick<Counts, 'subsets' | 'test_files'> | null {
  return subsets > 1 ? { subsets: subsets - 1, test_files: test_files - testFiles } : null;
}

/** Returns a random id below a given one. */
function uuidBelow(id: string): string {
  const head = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - 1 - Math.floor(Math.random() * 2 ** 24);
  const digits = Math.max(0, head).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}${randomUUID().slice(13)}`;
}

/** Well-known names of default branches. */
const WELL_KNOWN = new Set(['main', 'master', 'trunk', 'mainline', 'develop', 'default']);

/**
 * The default branch of a project after a build of `branch` was created: the branch with the most builds among those with a
 * well-known name, or among all when none has one. One that was set stays.
 *
 * @param project with a default branch of null, the build is its first
 * @param builds returns how many builds a branch has, the new one included
 */
export function defaultBranchAfter(
  { default_branch: current, is_default_branch_set: isSet }: Pick<Project, 'default_branch' | 'is_default_branch_set'>,
  branch: string,
  builds: (branch: string) => number,
): string {
  if (current === null) return branch;
  if (isSet || branch === current) return current;
  const [isKnown, wasKnown] = [WELL_KNOWN.has(branch), WELL_KNOWN.has(current)];
  if (isKnown !== wasKnown) return isKnown ? branch : current;
  return builds(branch) > builds(current) ? branch : current;
}
