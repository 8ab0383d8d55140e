import type { FileResult } from '../reports/times.js';

/** A file of a batch as it was planned. */
export interface PlannedFile {
  path: string;
  /** null: nothing is known. */
  expected: number | null;
}

export interface RecordedFile {
  path: string;
  time_execution: number;
}

export interface BatchResult {
  /** What is known to have been run. */
  recorded: RecordedFile[];
  /** What this node is to get again when it is run again. */
  failed: string[];
  /** Whether nothing of it is to be feared not to have been run. */
  isRun: boolean;
}

/** A file that ran takes no time only in a report that rounds. 0 would mean that it was not measured. */
const LEAST_SECONDS = 0.001;

/** What is recorded of a file that a report tells of. One that failed and took no time could not be loaded: that is no measure of it. */
export function timeOf({ hasRun, isFailed, seconds }: FileResult): number {
  return hasRun && !(isFailed && seconds === 0) ? Math.max(LEAST_SECONDS, seconds) : 0;
}

/**
 * What became of a batch by its reports. A file that they do not mention ran nothing when the command succeeded (recorded with 0:
 * scheduled, not measured), and may have kept the command from going on when it failed: then it counts as failed, and not as run.
 */
export function resultByReports(files: readonly PlannedFile[], reported: ReadonlyMap<string, FileResult>, isSuccess: boolean): BatchResult {
  const recorded: RecordedFile[] = [];
  const failed: string[] = [];
  for (const { path } of files) {
    const result = reported.get(path);
    if (result) recorded.push({ path, time_execution: timeOf(result) });
    else if (isSuccess) recorded.push({ path, time_execution: 0 });
    if (result ? result.isFailed : !isSuccess) failed.push(path);
  }
  // The command failed for a reason that no report tells: it may be any of them.
  if (!isSuccess && failed.length === 0) for (const { path } of files) failed.push(path);
  return { recorded, failed, isRun: recorded.length === files.length };
}

/**
 * What became of a batch by its exit code alone. The time it took is shared out by what its files were expected to take; of a command
 * that failed it says nothing, as that may have ended early: those files are recorded with 0.
 */
export function resultByClock(files: readonly PlannedFile[], seconds: number, isSuccess: boolean): BatchResult {
  const paths = files.map(({ path }) => path);
  if (!isSuccess) return { recorded: paths.map(path => ({ path, time_execution: 0 })), failed: paths, isRun: true };
  const known = files.flatMap(({ expected }) => (expected === null ? [] : [expected]));
  const usual = known.length > 0 ? known.reduce((sum, one) => sum + one, 0) / known.length : 1;
  const shares = files.map(({ expected }) => Math.max(LEAST_SECONDS, expected ?? usual));
  const whole = shares.reduce((sum, one) => sum + one, 0);
  return { recorded: paths.map((path, i) => ({ path, time_execution: Math.max(LEAST_SECONDS, (seconds * shares[i]!) / whole) })), failed: [], isRun: true };
}
