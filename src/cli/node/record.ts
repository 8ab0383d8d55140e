import { statSync } from 'node:fs';
import { pluralize } from '../../base/plural.js';
import { abbreviate, print, printToStderr } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { type BuildNode, detectValue, identify } from '../../node/ci/identity.js';
import { Api } from '../../node/client/api.js';
import {
  emptyFile,
  type FailurePolicy,
  failureReason,
  MOST_OWN_EXIT_CODE,
  mutedIn,
  type RecordedFile,
  recordedFile,
  withFailure,
  withMutes,
} from '../../node/client/batch-results.js';
import { assertTestsRan } from '../../node/client/completeness.js';
import { recordRun } from '../../node/client/record-run.js';
import { areFailuresMuted, failureNames, onePathEach, readReport, testCaseName } from '../../node/client/report-files.js';
import { assertSplitExists, reportsOlderThanSplit, savedCiRun } from '../../node/client/split-state.js';
import { emptyTest, filesMatching, readList } from '../../node/client/test-files.js';
import { mutedLine, readMutes } from '../../node/mutes/mutes.js';
import { reportedFile } from '../../node/reports/find-file.js';
import { DiskFiles, ListedFiles } from '../../node/reports/known-files.js';
import { collectResults, mergeResults, type ReportResults } from '../../node/reports/report-results.js';
import type { TestCase } from '../../node/reports/test-case.js';
import { describeUnmatched } from '../../node/reports/unmatched.js';
import { exitCodes } from '../process/exit.js';
import type { ClientOptions } from './options.js';

export interface RecordOptions extends ClientOptions, FailurePolicy {
  /** A list of the files that the node was to run; `-` is stdin. */
  filesFrom?: string;
  /** The exit code of the command that ran the tests. */
  exitCode?: number;
  json?: true;
}

/** Records the times in the reports of this node. Sets the exit code if only the reports show that tests failed. */
export async function record(globs: readonly string[], options: RecordOptions): Promise<void> {
  const { filesFrom, exitCode } = options;
  if (options.failUnreported && filesFrom === undefined)
    throw new UsageError(['--fail-unreported needs the list of the test files that the node was to run: name it with --files-from']);
  const mutes = readMutes();
  const identity = identify(['node_index', 'node_total', 'branch', 'commit_hash'], options);
  const api = new Api(options);
  const reports = await findReports(globs, api, identity, filesFrom);
  const listed = filesFrom === undefined ? null : await readList(filesFrom);
  const list = listed && new ListedFiles(listed);
  const results = readResults(reports, list);
  const { byFile, unmatched } = results;
  warnOfOldReports(reports, filesFrom);
  if (unmatched.length > 0)
    printToStderr(
      `WARNING: left out ${pluralize(unmatched.length, 'test case')} of no known test file: ${list ? describeUnmatched(unmatched, list) : abbreviate(unmatched.map(testCaseName))}`,
    );
  const isLoaded = results.loadedCode === (exitCode ?? 0);
  const isPassed = exitCode === 0 || (exitCode !== undefined && isLoaded);
  const isEmpty = isLoaded ? () => true : emptyTest(options.mayBeEmpty);
  const notReported = listed?.filter(path => !byFile.has(path)) ?? [];
  const unreported = notReported.filter(path => !isEmpty(path));
  const all = failureNames(results);
  // Without a list, nobody knows which files are in no report.
  const isKnown =
    listed !== null && exitCode !== undefined && exitCode <= MOST_OWN_EXIT_CODE && !unmatched.some(({ isFailed }) => isFailed);
  const isMuted = (path: string) => isKnown && areFailuresMuted(mutes, path, results);
  const failed = all.filter(name => !isMuted(name));
  // Without --exit-code, the caller acts on the exit code of its command.
  const reason = failureReason({ failed: isPassed ? failed : [], unreadable: [], unreported }, options);
  // If the command succeeded, the files in no report had nothing to run.
  const isScheduled = isPassed && reason === null;
  // A file that is not recorded, such as an unknown one, says nothing about those that are.
  const hasFailed = exitCode !== undefined && (!isPassed || (all.length > 0 && !options.trustExitCode));
  if (unreported.length > 0) warnOfUnreported(unreported, listed!.length, isScheduled);
  const ofReports = [...byFile].map(([path, result]) => recordedFile(path, result));
  const recorded: RecordedFile[] = [
    ...withMutes(withFailure(ofReports, hasFailed), isMuted),
    ...(isScheduled ? notReported : []).map(path => (isEmpty(path) ? emptyFile(path) : { path, time_execution: 0 })),
  ];
  if (recorded.length === 0)
    throw new Error(
      `nothing to record: found no ${list ? 'test file of the list' : 'known test file'} in ${pluralize(reports.length, 'report')}${list ? '' : '; run this in the folder of the tests, or give --files-from'}`,
    );
  const build_id = options.buildId || ciRunToRecord(api, identity, options.environment);
  const isStored = await recordRun(api, { ...identity, build_id }, recorded, { tellsOutcomes: exitCode !== undefined });
  await assertSplitExists(api, identity);
  await assertTestsRan(api, identity, build_id === undefined ? {} : { ci_build_id: build_id }, recorded);
  if (failed.length > 0) reportFailures(failed, exitCode);
  const muted = mutedIn(recorded);
  if (muted.size > 0) printToStderr(mutedLine(mutes, [...muted]));
  const isExplained = isPassed || (muted.size > 0 && failed.length === 0 && unreported.length === 0);
  if (exitCode !== undefined && !isExplained) process.exitCode = exitCodes.failed;
  if (reason !== null) {
    printToStderr(`${exitCode === 0 ? 'the command ended with 0, but ' : ''}record ends with 1: ${reason}`);
    process.exitCode = exitCodes.failed;
  }
  if (options.json) {
    const not_recorded = isScheduled ? [] : unreported;
    print(JSON.stringify({ test_files: isStored ? recorded : [], not_recorded, unknown_test_cases: unmatched.length }));
  }
}

/** Returns the reports, sorted, without those that are older than the split of this node. */
async function findReports(globs: readonly string[], api: Api, node: BuildNode, list: string | undefined): Promise<string[]> {
  const found = onePathEach(await filesMatching(globs));
  if (found.length === 0) throw new UsageError([`no reports: nothing matches ${globs.join(' ')} in ${process.cwd()}`]);
  const older = list === undefined ? [] : reportsOlderThanSplit(api, node, list, found);
  if (older.length > 0) printToStderr(`WARNING: left out reports that are older than the split of this node: ${abbreviate(older)}`);
  const reports = found.filter(path => !older.includes(path));
  if (reports.length === 0)
    throw new Error('nothing to record: the tests wrote no report after the split of this node; check that they were run');
  return reports.sort();
}

/** @param list the test files of the node; null: match the reports to the files in the current folder */
function readResults(reports: readonly string[], list: ListedFiles | null): ReportResults {
  const known = list ?? new DiskFiles(process.cwd());
  const results = reports.map(path => {
    const { cases, loadedCode } = readReport(path);
    return collectResults(cases, known, loadedCode);
  });
  return mergeResults(list ? results : results.map(addReportedFiles));
}

function warnOfUnreported(unreported: readonly string[], total: number, isScheduled: boolean): void {
  const [outcome, hint] = isScheduled ? ['recorded as not measured', ' (--fail-unreported: fail instead)'] : ['not recorded', ''];
  printToStderr(
    `WARNING: no report mentions ${unreported.length} of ${pluralize(total, 'test file')} (${outcome}): ${abbreviate(unreported)}${hint}`,
  );
}

function reportFailures(failed: readonly string[], exitCode: number | undefined): void {
  printToStderr(
    exitCode === undefined
      ? `WARNING: reports have failures (${abbreviate(failed)}); without --exit-code, record does not fail: the caller must`
      : `failed: ${abbreviate(failed)}`,
  );
}

/**
 * Returns the CI run of the `split` in this folder, unless the CI system names another one. Undefined: the times may count for any CI run of the
 * commit.
 */
function ciRunToRecord(api: Api, node: BuildNode, environment: NodeJS.ProcessEnv): string | undefined {
  const saved = savedCiRun(api, node);
  return saved === (detectValue('buildId', environment) ?? saved) ? (saved ?? undefined) : undefined;
}

/** Warns about reports that are older than the list of test files: they may be from an earlier run. */
function warnOfOldReports(reports: readonly string[], list: string | undefined): void {
  if (list === undefined || list === '-') return;
  // A pipe, as in <(command), is always as new as its reader.
  const stats = statSync(list, { throwIfNoEntry: false });
  if (!stats?.isFile()) return;
  const older = reports.filter(path => statSync(path).mtimeMs < stats.mtimeMs);
  if (older.length > 0)
    printToStderr(
      `WARNING: reports are older than ${list} and may be from an earlier run: ${abbreviate(older)} (remove reports before the tests run)`,
    );
}

/** Adds the files that a report names but that are not in this folder: they ran elsewhere, or are packages. */
function addReportedFiles(results: ReportResults): ReportResults {
  const asReported = { find: (path: string) => path };
  const named: TestCase[] = [];
  const unmatched: TestCase[] = [];
  for (const testCase of results.unmatched) {
    const file = reportedFile(testCase);
    if (file === null) unmatched.push(testCase);
    else named.push({ ...testCase, file });
  }
  return mergeResults([{ ...results, unmatched }, collectResults(named, asReported)]);
}
