import { statSync } from 'node:fs';
import { Api } from '../client/api.js';
import { type FailurePolicy, failureReason, type RecordedFile, recordedSeconds } from '../client/batch-results.js';
import { detectValue, identify } from '../client/ci/identity.js';
import { gitCheckout } from '../client/git.js';
import { recordRun } from '../client/record-run.js';
import { failureNames, readReport, testCaseName } from '../client/report-files.js';
import { assertSplitExists, reportsOlderThanSplit, savedCiRun } from '../client/split-state.js';
import { filesMatching, readList } from '../client/test-files.js';
import { UsageError } from '../client/usage-error.js';
import { DiskFiles } from '../reports/disk-files.js';
import { reportedFile } from '../reports/find-file.js';
import type { TestCase } from '../reports/junit.js';
import { ListedFiles } from '../reports/known-files.js';
import { collectResults, mergeResults, type ReportResults } from '../reports/report-results.js';
import { abbreviate, pluralize, print, printToStderr } from '../terminal.js';
import type { ClientOptions } from './client-options.js';
import { exitCodes } from './process/exit-codes.js';

export interface RecordOptions extends ClientOptions, FailurePolicy {
  /** A list of what the node was to run; `-` is stdin. */
  filesFrom?: string;
  /** What the command that ran them ended with. */
  exitCode?: number;
  json?: true;
}

/** Records the times in the reports of this node. Sets the exit code when only the reports show that tests failed. */
export async function record(globs: readonly string[], options: RecordOptions): Promise<void> {
  const { filesFrom, exitCode } = options;
  if (options.failUnreported && filesFrom === undefined)
    throw new UsageError(['--fail-unreported needs the list of the test files that the node was to run: name it with --files-from']);
  const identity = identify(['node_index', 'node_total', 'branch', 'commit_hash'], options, options.environment, gitCheckout('.'));
  const api = new Api(options);
  const found = await filesMatching(globs);
  if (found.length === 0) throw new UsageError([`no reports: nothing matches ${globs.join(' ')} in ${process.cwd()}`]);
  const older = filesFrom === undefined ? [] : reportsOlderThanSplit(api, identity, filesFrom, found);
  const reports = found.filter(path => !older.includes(path));
  if (older.length > 0) printToStderr(`WARNING: left out reports that are older than the split of this node: ${abbreviate(older)}`);
  if (reports.length === 0)
    throw new Error('nothing to record: the tests wrote no report after the split of this node; did they end before that?');
  const given = filesFrom === undefined ? null : await readList(filesFrom);
  const known = given ? new ListedFiles(given) : new DiskFiles(process.cwd());
  const results = mergeResults(reports.sort().map(path => matchReportedFiles(collectResults(readReport(path), known), given !== null)));
  const { byFile, unmatched } = results;
  warnOfOldReports(reports, filesFrom);
  if (unmatched.length > 0)
    printToStderr(
      `WARNING: left out ${pluralize(unmatched.length, 'test case')} of no known test file: ${abbreviate(unmatched.map(testCaseName))}`,
    );
  const unreported = given?.filter(path => !byFile.has(path)) ?? [];
  const failed = failureNames(results);
  // Without --exit-code the caller keeps the exit code of its command.
  const why = failureReason({ failed: exitCode === 0 ? failed : [], unreadable: [], unreported }, options);
  // Files that a successful command left out had nothing to run.
  const isScheduled = exitCode === 0 && why === null;
  const missing = isScheduled ? [] : unreported;
  if (unreported.length > 0) {
    const [isWhat, hint] = isScheduled ? ['recorded as not measured', ' (--fail-unreported: fail instead)'] : ['not recorded', ''];
    printToStderr(
      `WARNING: no report mentions ${unreported.length} of ${pluralize(given!.length, 'test file')} (${isWhat}): ${abbreviate(unreported)}${hint}`,
    );
  }
  const recorded: RecordedFile[] = [
    ...[...byFile].map(([path, result]) => ({ path, time_execution: recordedSeconds(result) })),
    ...(isScheduled ? unreported : []).map(path => ({ path, time_execution: 0 })),
  ];
  if (recorded.length === 0)
    throw new Error(
      `nothing to record: no test file that is known here is in ${pluralize(reports.length, 'report')}; run this in the folder of the tests, or give --files-from`,
    );
  const isStored = await recordRun(
    api,
    { ...identity, build_id: options.buildId || ciRunToRecord(api, identity, options.environment) },
    recorded,
  );
  await assertSplitExists(api, identity);
  if (failed.length > 0)
    printToStderr(
      exitCode === undefined
        ? `WARNING: reports have failures (${abbreviate(failed)}); without --exit-code, record leaves it to its caller to fail`
        : `failed: ${abbreviate(failed)}`,
    );
  if (why !== null) {
    printToStderr(`${exitCode === 0 ? 'the command ended with 0, but ' : ''}record ends with 1: ${why}`);
    process.exitCode = exitCodes.failed;
  }
  if (options.json)
    print(JSON.stringify({ test_files: isStored ? recorded : [], not_recorded: missing, unknown_test_cases: unmatched.length }));
}

/** The CI run of the `split` in this folder, unless this is another one. Without it the times may count for any CI run of the commit. */
function ciRunToRecord(api: Api, node: Parameters<typeof savedCiRun>[1], environment: NodeJS.ProcessEnv): string | undefined {
  const ofSplit = savedCiRun(api, node);
  return ofSplit === (detectValue('buildId', environment) ?? ofSplit) ? (ofSplit ?? undefined) : undefined;
}

/** Warns of reports that are older than the list of test files: they may be from an earlier run. */
function warnOfOldReports(reports: readonly string[], list: string | undefined): void {
  if (list === undefined || list === '-') return;
  // A pipe, as in <(command), is always as new as its reader.
  const listed = statSync(list, { throwIfNoEntry: false });
  if (!listed?.isFile()) return;
  const older = reports.filter(path => statSync(path).mtimeMs < listed.mtimeMs);
  if (older.length > 0)
    printToStderr(
      `WARNING: reports are older than ${list} and may be from an earlier run: ${abbreviate(older)} (remove reports before the tests run)`,
    );
}

/** Without a list also what is no file here: it ran elsewhere, or is a package. */
function matchReportedFiles(results: ReportResults, hasList: boolean): ReportResults {
  if (hasList) return results;
  const reported = { find: (path: string) => path };
  const isNamed = (stray: TestCase) => reportedFile(stray) !== null;
  const told = results.unmatched.filter(isNamed).map(stray => ({ ...stray, file: reportedFile(stray) }));
  return mergeResults([{ ...results, unmatched: results.unmatched.filter(stray => !isNamed(stray)) }, collectResults(told, reported)]);
}
