import { Api } from '../client/api.js';
import { type RecordedFile, timeOf } from '../client/batch-results.js';
import { identify } from '../client/ci/identity.js';
import { checkoutOf } from '../client/git.js';
import { recordRun } from '../client/record-run.js';
import { readReport } from '../client/report-files.js';
import { filesMatching, listFrom } from '../client/test-files.js';
import { UsageError } from '../client/usage-error.js';
import { DiskFiles } from '../reports/disk-files.js';
import { fileAsReported } from '../reports/file-of.js';
import type { TestCase } from '../reports/junit.js';
import { GivenFiles } from '../reports/known-files.js';
import { type Results, timesOf, together } from '../reports/times.js';
import { counted, named, print, say } from '../terminal.js';
import type { ClientOptions } from './client-options.js';

export interface RecordOptions extends ClientOptions {
  /** A list of what the node was to run; `-` is stdin. */
  filesFrom?: string;
  /** What the command that ran them ended with. */
  exitCode?: number;
  json?: true;
}

/** Records the times that reports tell of what this node ran. */
export async function record(globs: readonly string[], options: RecordOptions): Promise<void> {
  const identity = identify(['node_index', 'node_total', 'branch', 'commit_hash'], options, options.environment, checkoutOf('.'));
  const reports = await filesMatching(globs);
  if (reports.length === 0) throw new UsageError([`no reports: nothing matches ${globs.join(' ')} in ${process.cwd()}`]);
  const given = options.filesFrom === undefined ? null : await listFrom(options.filesFrom);
  const known = given ? new GivenFiles(given) : new DiskFiles(process.cwd());
  const results = together(reports.sort().map(path => withReported(timesOf(readReport(path), known), given !== null)));
  const { byFile, strays } = results;
  if (strays.length > 0) say(`WARNING: in no known test file, and left out: ${counted(strays.length, 'test case')}: ${named(strays.map(({ classname, name }) => `${classname} ${name}`.trim()))}`);
  const silent = given?.filter(path => !byFile.has(path)) ?? [];
  // A command that succeeded found nothing to run in them.
  const notMeasured = options.exitCode === 0 ? silent : [];
  const missing = options.exitCode === 0 ? [] : silent;
  if (missing.length > 0) say(`WARNING: in no report, and not recorded: ${missing.length} of ${counted(given!.length, 'test file')}: ${named(missing)}`);
  const recorded: RecordedFile[] = [
    ...[...byFile].map(([path, result]) => ({ path, time_execution: timeOf(result) })),
    ...notMeasured.map(path => ({ path, time_execution: 0 })),
  ];
  if (recorded.length === 0) throw new Error(`nothing to record: no test file that is known here is in ${counted(reports.length, 'report')}; run this in the folder of the tests, or give --files-from`);
  const isStored = await recordRun(new Api(options), { ...identity, build_id: options.buildId || undefined }, recorded);
  if (options.json) print(JSON.stringify({ test_files: isStored ? recorded : [], not_recorded: missing, unknown_test_cases: strays.length }));
}

/** Without a list also what is no file here: it ran elsewhere, or is a package. */
function withReported(results: Results, hasList: boolean): Results {
  if (hasList) return results;
  const reported = { find: (path: string) => path };
  const isNamed = (stray: TestCase) => fileAsReported(stray) !== null;
  const told = results.strays.filter(isNamed).map(stray => ({ ...stray, file: fileAsReported(stray) }));
  return together([{ ...results, strays: results.strays.filter(stray => !isNamed(stray)) }, timesOf(told, reported)]);
}
