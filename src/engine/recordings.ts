import { limits } from '../limits.js';
import { fileOf } from '../planning/estimating/test-case.js';
import { shortDigest } from './digest.js';
import type { NewRun, Recorded } from './ports/recordings.js';
import type { Millis } from './ports/store.js';
import { type RecordedTestFile, UNTIMED } from './test-file.js';

/** @param ci_build_id the id of the CI run; undefined: the client named none */
export function newRun(testFiles: readonly RecordedTestFile[], ci_build_id?: string): NewRun {
  const paths: string[] = [];
  const seconds: number[] = [];
  let hasTestCases = false;
  for (const { path, time_execution, ran } of testFiles) {
    paths.push(path);
    // A client may send -0.
    seconds.push(time_execution > 0 ? time_execution : ran ? UNTIMED : 0);
    hasTestCases ||= time_execution > 0 && fileOf(path) !== null;
  }
  return { paths, seconds, hasTestCases, ci_run: ci_build_id === undefined ? 0 : shortDigest(ci_build_id) };
}

/** The last recorded run of a node in a build. */
export interface LastRun {
  created_at: Millis;
  /** Whether it has the same CI run, test files and times as the new one. */
  isSame: boolean;
  /** How many runs of the node are kept. */
  kept: number;
}

/** The outcome of a new run. A client repeats a request for some minutes; a later run is another one, even if it is the same. */
export function outcomeOf(last: LastRun | null, isRetry: boolean, at: Millis): Recorded {
  if (!last) return 'recorded';
  if (isRetry && last.isSame && at - last.created_at < limits.retryWindowMilliseconds) return 'known';
  return last.kept >= limits.runsPerNode ? 'retried too often' : 'recorded';
}
