import type { FileResult } from '../reports/report-results.js';
import { abbreviate, pluralize } from '../terminal.js';

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
  allRan: boolean;
}

/** Options that decide, besides the exit code of the command, whether a batch passed. */
export interface FailurePolicy {
  /** Only the exit code decides: a failure in a report, or an unreadable report, does not fail the batch. */
  trustExitCode?: true;
  /** A file that no report mentions counts as failed and not run. */
  failUnreported?: true;
}

/** What speaks against a batch in its reports. */
export interface ReportFindings {
  /** Files, or test cases of no known file, that failed. */
  failed: readonly string[];
  /** Reports that cannot be read. */
  unreadable: readonly string[];
  /** Files of the batch that no report mentions. */
  unreported: readonly string[];
}

/** Why a batch failed although its command ended with 0; null: it passed. */
export function failureReason(
  { failed, unreadable, unreported }: ReportFindings,
  { trustExitCode, failUnreported }: FailurePolicy,
): string | null {
  if (!trustExitCode && failed.length > 0)
    return `a report has failures (${abbreviate(failed)}); let the command return the exit code of its test runner, or give --trust-exit-code`;
  if (!trustExitCode && unreadable.length > 0)
    return `a report cannot be read (${abbreviate(unreadable)}); let the command return the exit code of its test runner, or give --trust-exit-code`;
  if (failUnreported && unreported.length > 0)
    return `no report mentions ${pluralize(unreported.length, 'test file')} (${abbreviate(unreported)}), and --fail-unreported is given`;
  return null;
}

/** A file that ran takes no time only in a report that rounds. 0 would mean that it was not measured. */
const MIN_SECONDS = 0.001;

/** What is recorded of a file that a report tells of. One that failed and took no time could not be loaded: that is no measure of it. */
export function recordedSeconds({ hasRun, isFailed, seconds }: FileResult): number {
  return hasRun && !(isFailed && seconds === 0) ? Math.max(MIN_SECONDS, seconds) : 0;
}

/**
 * The result of a batch by its reports. When the batch passed, a file that they do not mention had nothing to run and is recorded with 0
 * (scheduled, not measured). When it failed, that file may not have been run: it counts as failed and is not recorded.
 */
export function resultFromReports(
  files: readonly PlannedFile[],
  reported: ReadonlyMap<string, FileResult>,
  isSuccess: boolean,
): BatchResult {
  const recorded: RecordedFile[] = [];
  const failed: string[] = [];
  for (const { path } of files) {
    const result = reported.get(path);
    if (result) recorded.push({ path, time_execution: recordedSeconds(result) });
    else if (isSuccess) recorded.push({ path, time_execution: 0 });
    if (!isSuccess && (result?.isFailed ?? true)) failed.push(path);
  }
  // No report names the cause of the failure: it may be any of these files.
  if (!isSuccess && failed.length === 0) for (const { path } of files) failed.push(path);
  return { recorded, failed, allRan: recorded.length === files.length };
}

/**
 * What became of a batch by its exit code alone. The time it took is shared out by what its files were expected to take; of a command
 * that failed it says nothing, as that may have ended early: those files are recorded with 0.
 */
export function resultFromExitCode(files: readonly PlannedFile[], seconds: number, isSuccess: boolean): BatchResult {
  const paths = files.map(({ path }) => path);
  if (!isSuccess) return { recorded: paths.map(path => ({ path, time_execution: 0 })), failed: paths, allRan: true };
  const measured = files.flatMap(({ expected }) => (expected === null ? [] : [expected]));
  const mean = measured.length > 0 ? measured.reduce((sum, one) => sum + one, 0) / measured.length : 1;
  const shares = files.map(({ expected }) => Math.max(MIN_SECONDS, expected ?? mean));
  const total = shares.reduce((sum, one) => sum + one, 0);
  return {
    recorded: paths.map((path, i) => ({ path, time_execution: Math.max(MIN_SECONDS, (seconds * shares[i]!) / total) })),
    failed: [],
    allRan: true,
  };
}
