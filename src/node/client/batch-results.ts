import { pluralize } from '../../base/plural.js';
import { abbreviate } from '../../base/terminal.js';
import type { FileOutcome } from '../../protocol/file-outcome.js';
import type { FileResult } from '../reports/report-results.js';
import { estimateOf, type PlannedFile } from './planned-file.js';

export interface RecordedFile {
  path: string;
  time_execution: number;
  /** With a time of 0: the file ran, and had no time to measure. */
  ran?: true;
  /** With `ran`: no test of the file ran. */
  no_test?: true;
  /** Missing: it passed. */
  outcome?: Exclude<FileOutcome, 'passed'>;
}

export interface BatchResult {
  /** Files that ran. */
  recorded: RecordedFile[];
  /** Files that failed, also those that are muted, or may not have run. This node gets them again when it is retried. */
  failed: string[];
}

/** Options that decide, together with the exit code of the command, whether a batch passed. */
export interface FailurePolicy {
  /** Only the exit code decides: neither a failure in a report nor an unreadable report fails the batch. */
  trustExitCode?: true;
  /** A file in no report counts as failed and not run. */
  failUnreported?: true;
  /** Globs of files that may have nothing to run: in no report, they count as run. */
  mayBeEmpty?: readonly string[];
}

/** Signs of failure in the reports of a batch. */
export interface ReportFindings {
  /** Files that failed, and failed test cases of unknown files. */
  failed: readonly string[];
  /** Why reports cannot be read. */
  unreadable: readonly string[];
  /** Files of the batch that no report mentions. */
  unreported: readonly string[];
  /** Files that are retried, and of which no report has a test that ran: nothing shows that they pass. */
  unproved?: readonly string[];
}

/** Returns why a batch failed although its command ended with 0; null: it passed. */
export function failureReason(
  { failed, unreadable, unreported, unproved = [] }: ReportFindings,
  { trustExitCode, failUnreported }: FailurePolicy,
): string | null {
  if (!trustExitCode && failed.length > 0)
    return `a report has failures (${abbreviate(failed)}); let the command return the exit code of its test runner, or give --trust-exit-code`;
  if (!trustExitCode && unreadable.length > 0)
    return `${unreadable.join('; ')}; let the command return the exit code of its test runner, or give --trust-exit-code`;
  if (failUnreported && unreported.length > 0)
    return `no report mentions ${pluralize(unreported.length, 'test file')} (${abbreviate(unreported)}), and --fail-unreported is given; see whether the command ran them, and name files without tests with --may-be-empty`;
  if (unproved.length > 0) return `it is a retry, and no report has a test of ${abbreviate(unproved)} that ran`;
  return null;
}

/** A report may round the time of a file down to 0, which would mean that it was not measured. */
const MIN_SECONDS = 0.001;

/** Returns what to record for a file in a report. A file that failed in no time could not be loaded, so it did not run. */
export function recordedFile(path: string, { hasRun, isFailed, isFlaky, seconds, isUnmeasured }: FileResult): RecordedFile {
  if (!hasRun && !isFailed) return emptyFile(path);
  const outcome: Pick<RecordedFile, 'outcome'> = isFailed ? { outcome: 'failed' } : isFlaky ? { outcome: 'flaky' } : {};
  if (hasRun && !isUnmeasured && !(isFailed && seconds === 0)) return { path, time_execution: Math.max(MIN_SECONDS, seconds), ...outcome };
  return { path, time_execution: 0, ...(!isFailed && { ran: true }), ...outcome };
}

/** Record of a file that had nothing to run. */
export function emptyFile(path: string): RecordedFile {
  return { path, time_execution: 0, ran: true, no_test: true, outcome: 'skipped' };
}

/** Returns what to record after a test run. If it failed, and none of the recorded files did, each of them may have. */
export function withFailure(recorded: RecordedFile[], hasFailed: boolean): RecordedFile[] {
  return hasFailed && recorded.every(({ outcome }) => outcome !== 'failed') ? allFailed(recorded) : recorded;
}

/** With more, a command timed out (124), could not be run (to 127), or was ended by a signal: what it would have reported is not known. */
export const MOST_OWN_EXIT_CODE = 123;

/** Returns what to record where the repository mutes the failures of some files. Such a file has run to its end. */
export function withMutes(recorded: readonly RecordedFile[], isMuted: (path: string) => boolean): RecordedFile[] {
  return recorded.map(file =>
    file.outcome === 'failed' && isMuted(file.path) ? { ...file, ...(file.time_execution === 0 && { ran: true }), outcome: 'muted' } : file,
  );
}

/** The paths of the files whose failures are muted. */
export function mutedIn(recorded: readonly RecordedFile[]): Set<string> {
  return new Set(recorded.filter(({ outcome }) => outcome === 'muted').map(({ path }) => path));
}

function allFailed(files: readonly RecordedFile[]): RecordedFile[] {
  return files.map(file => ({ ...file, outcome: 'failed' }));
}

/**
 * Derives the result of a batch from its reports. If the batch passed, a file in no report is recorded with 0 (scheduled, not measured). If
 * the batch failed, that file may not have run: it counts as failed and is not recorded.
 * @param isEmpty whether a file in no report is known to have had nothing to run, if the batch passed
 * @param hasUnknown whether a test case failed whose file is not known
 */
export function resultFromReports(
  files: readonly PlannedFile[],
  reported: ReadonlyMap<string, FileResult>,
  isSuccess: boolean,
  isEmpty: (path: string) => boolean = () => false,
  hasUnknown = false,
): BatchResult {
  const recorded: RecordedFile[] = [];
  const failed: string[] = [];
  for (const { path } of files) {
    const result = reported.get(path);
    if (result) recorded.push(recordedFile(path, result));
    else if (isSuccess) recorded.push(isEmpty(path) ? emptyFile(path) : { path, time_execution: 0 });
    if (!isSuccess && (result?.isFailed ?? true)) failed.push(path);
  }
  // A file in no report may be the one that ended the command. The file of a test case that failed is another one.
  const outcomes = withFailure(recorded, !isSuccess && (failed.length === 0 || hasUnknown));
  return outcomes === recorded ? { recorded, failed } : { recorded: outcomes, failed: files.map(({ path }) => path) };
}

/**
 * Derives the result of a batch from the exit code alone. The time of the batch is divided in proportion to the expected times of its files.
 * A failed command may have ended early, so its time is not used: its files are recorded with 0.
 */
export function resultFromExitCode(files: readonly PlannedFile[], seconds: number, isSuccess: boolean): BatchResult {
  const paths = files.map(({ path }) => path);
  if (!isSuccess) return { recorded: allFailed(paths.map(path => ({ path, time_execution: 0 }))), failed: paths };
  const estimate = estimateOf(files);
  const mean = estimate.seconds === null ? 1 : estimate.seconds / (files.length - estimate.unmeasured);
  const shares = files.map(({ expected }) => Math.max(MIN_SECONDS, expected ?? mean));
  const total = shares.reduce((sum, seconds) => sum + seconds, 0);
  return {
    recorded: paths.map((path, i) => ({ path, time_execution: Math.max(MIN_SECONDS, (seconds * shares[i]!) / total) })),
    failed: [],
  };
}
