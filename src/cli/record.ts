import { statSync } from 'node:fs';
import { Api } from '../client/api.js';
import { type Judgement, type RecordedFile, timeOf, whyFailed } from '../client/batch-results.js';
import { detected, identify } from '../client/ci/identity.js';
import { checkoutOf } from '../client/git.js';
import { recordRun } from '../client/record-run.js';
import { failuresIn, nameOf, readReport } from '../client/report-files.js';
import { assertSplitStands, ciRunOfSplit, olderThanSplit } from '../client/split-state.js';
import { filesMatching, listFrom } from '../client/test-files.js';
import { UsageError } from '../client/usage-error.js';
import { DiskFiles } from '../reports/disk-files.js';
import { fileAsReported } from '../reports/file-of.js';
import type { TestCase } from '../reports/junit.js';
import { GivenFiles } from '../reports/known-files.js';
import { type Results, timesOf, together } from '../reports/times.js';
import { counted, named, print, say } from '../terminal.js';
import type { ClientOptions } from './client-options.js';
import { exitCodes } from './process/exit-codes.js';

export interface RecordOptions extends ClientOptions, Judgement {
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
  const identity = identify(['node_index', 'node_total', 'branch', 'commit_hash'], options, options.environment, checkoutOf('.'));
  const api = new Api(options);
  const found = await filesMatching(globs);
  if (found.length === 0) throw new UsageError([`no reports: nothing matches ${globs.join(' ')} in ${process.cwd()}`]);
  const older = filesFrom === undefined ? [] : olderThanSplit(api, identity, filesFrom, found);
  const reports = found.filter(path => !older.includes(path));
  if (older.length > 0) say(`WARNING: left out reports that are older than the split of this node: ${named(older)}`);
  if (reports.length === 0)
    throw new Error('nothing to record: the tests wrote no report after the split of this node; did they end before that?');
  const given = filesFrom === undefined ? null : await listFrom(filesFrom);
  const known = given ? new GivenFiles(given) : new DiskFiles(process.cwd());
  const results = together(reports.sort().map(path => withReported(timesOf(readReport(path), known), given !== null)));
  const { byFile, strays } = results;
  warnOfOlder(reports, filesFrom);
  if (strays.length > 0)
    say(`WARNING: left out ${counted(strays.length, 'test case')} of no known test file: ${named(strays.map(nameOf))}`);
  const unreported = given?.filter(path => !byFile.has(path)) ?? [];
  const failed = failuresIn(results);
  // Without --exit-code the caller keeps the exit code of its command.
  const why = whyFailed({ failed: exitCode === 0 ? failed : [], unreadable: [], unreported }, options);
  // Files that a successful command left out had nothing to run.
  const isScheduled = exitCode === 0 && why === null;
  const missing = isScheduled ? [] : unreported;
  if (unreported.length > 0) {
    const [isWhat, hint] = isScheduled ? ['recorded as not measured', ' (--fail-unreported: fail instead)'] : ['not recorded', ''];
    say(
      `WARNING: no report mentions ${unreported.length} of ${counted(given!.length, 'test file')} (${isWhat}): ${named(unreported)}${hint}`,
    );
  }
  const recorded: RecordedFile[] = [
    ...[...byFile].map(([path, result]) => ({ path, time_execution: timeOf(result) })),
    ...(isScheduled ? unreported : []).map(path => ({ path, time_execution: 0 })),
  ];
  if (recorded.length === 0)
    throw new Error(
      `nothing to record: no test file that is known here is in ${counted(reports.length, 'report')}; run this in the folder of the tests, or give --files-from`,
    );
  const isStored = await recordRun(
    api,
    { ...identity, build_id: options.buildId || ciRunKnownTo(api, identity, options.environment) },
    recorded,
  );
  await assertSplitStands(api, identity);
  if (failed.length > 0)
    say(
      exitCode === undefined
        ? `WARNING: reports have failures (${named(failed)}); without --exit-code, record leaves it to its caller to fail`
        : `failed: ${named(failed)}`,
    );
  if (why !== null) {
    say(`${exitCode === 0 ? 'the command ended with 0, but ' : ''}record ends with 1: ${why}`);
    process.exitCode = exitCodes.failed;
  }
  if (options.json)
    print(JSON.stringify({ test_files: isStored ? recorded : [], not_recorded: missing, unknown_test_cases: strays.length }));
}

/** The CI run of the `split` in this folder, unless this is another one. Without it the times may count for any CI run of the commit. */
function ciRunKnownTo(api: Api, node: Parameters<typeof ciRunOfSplit>[1], environment: NodeJS.ProcessEnv): string | undefined {
  const ofSplit = ciRunOfSplit(api, node);
  return ofSplit === (detected('buildId', environment) ?? ofSplit) ? (ofSplit ?? undefined) : undefined;
}

/** Warns of reports that are older than the list of test files: they may be from an earlier run. */
function warnOfOlder(reports: readonly string[], list: string | undefined): void {
  if (list === undefined || list === '-') return;
  // A pipe, as in <(command), is always as new as its reader.
  const listed = statSync(list, { throwIfNoEntry: false });
  if (!listed?.isFile()) return;
  const older = reports.filter(path => statSync(path).mtimeMs < listed.mtimeMs);
  if (older.length > 0)
    say(`WARNING: reports are older than ${list} and may be from an earlier run: ${named(older)} (remove reports before the tests run)`);
}

/** Without a list also what is no file here: it ran elsewhere, or is a package. */
function withReported(results: Results, hasList: boolean): Results {
  if (hasList) return results;
  const reported = { find: (path: string) => path };
  const isNamed = (stray: TestCase) => fileAsReported(stray) !== null;
  const told = results.strays.filter(isNamed).map(stray => ({ ...stray, file: fileAsReported(stray) }));
  return together([{ ...results, strays: results.strays.filter(stray => !isNamed(stray)) }, timesOf(told, reported)]);
}
