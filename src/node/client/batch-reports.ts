import { pluralize } from '../../base/plural.js';
import { abbreviate, printToStderr } from '../../base/terminal.js';
import type { ListedFiles } from '../reports/known-files.js';
import type { ReportResults } from '../reports/report-results.js';
import { describeUnmatched } from '../reports/unmatched.js';
import type { PlannedFile } from './planned-file.js';

/** A batch whose command has ended. */
interface EndedBatch {
  /** As in BALLAST_BATCH. */
  number: number;
  files: readonly PlannedFile[];
  /** The globs of --junit. */
  reportGlobs: readonly string[];
}

/** Contents of the reports of a batch. */
export interface BatchReports extends ReportResults {
  /** The files of the batch, as reports name them. */
  list: ListedFiles;
  /** The last file of each report that may have been cut off. */
  cutOff: readonly string[];
  /** The number of reports that could be read. */
  count: number;
  /** Why reports could not be read, without XML of other kinds. */
  unreadable: readonly string[];
}

/** Names a batch in messages. */
export function batchLabel(number: number, files: readonly PlannedFile[]): string {
  return `batch ${number}, ${pluralize(files.length, 'test file')}`;
}

/**
 * Prints why the batch failed, and warns about what the reports leave out. Returns false if they say nothing about the batch, not even that
 * it had nothing to run.
 */
export function warnOfGaps(
  batch: EndedBatch,
  reports: BatchReports,
  unreported: readonly string[],
  isSuccess: boolean,
  reason: string | null,
): boolean {
  const { number, files } = batch;
  const { byFile, unmatched, unreadable, count } = reports;
  const own = new Set(files.map(({ path }) => path));
  const others = [...byFile.keys()].filter(path => !own.has(path));
  const hint = isSuccess ? ' (--fail-unreported: fail instead)' : '';
  const failure = `the command ended with 0, but the batch failed (${batchLabel(number, files)}): ${reason}`;
  if (unreported.length < files.length) {
    if (reason !== null) printToStderr(failure);
    else if (unreadable.length > 0) printToStderr(`WARNING: ${unreadable.join('; ')}`);
    if (others.length > 0)
      printToStderr(`WARNING: the command ran ${pluralize(others.length, 'test file')} of other batches, too: ${abbreviate(others)}`);
    if (unreported.length > 0 && (isSuccess || unmatched.length > 0)) warnOfUnreported(batch, unreported, reports, hint);
    return true;
  }
  const isEmpty = count > 0 && unreadable.length === 0 && unmatched.length === 0 && others.length === 0;
  if (isEmpty && isSuccess) {
    printToStderr(`WARNING: no test was run in ${batchLabel(number, files)}: ${abbreviate(unreported)}${hint}`);
    return true;
  }
  const gap = unreadable.join('; ') || `--junit ${batch.reportGlobs.join(' ')}: ${whyUnusable(reports, others)}`;
  const consequence = isSuccess ? 'the time of the batch is divided among its test files' : 'its test files count as failed and not run';
  printToStderr(`${reason === null ? 'WARNING: ' : `${failure}; `}${reason?.includes(gap) ? '' : `${gap}; `}${consequence}`);
  return false;
}

/** @param others the files that the reports mention, none of which is of the batch */
function whyUnusable({ count, unmatched, list }: BatchReports, others: readonly string[]): string {
  if (count === 0) return 'the command wrote no report there';
  if (unmatched.length > 0) return `the reports mention no file of the batch: they name ${describeUnmatched(unmatched, list)}`;
  return others.length > 0 ? `the reports mention no file of the batch, but ${abbreviate(others)}` : 'the report has no test case';
}

function warnOfUnreported(
  { files, reportGlobs }: EndedBatch,
  unreported: readonly string[],
  { unmatched, list }: BatchReports,
  hint: string,
): void {
  const cases =
    unmatched.length > 0
      ? `; the files of ${pluralize(unmatched.length, 'test case')} are not known: ${describeUnmatched(unmatched, list)}`
      : '';
  printToStderr(
    `WARNING: --junit ${reportGlobs.join(' ')} does not mention ${unreported.length} of ${pluralize(files.length, 'test file')}: ${abbreviate(unreported)}${cases}${hint}`,
  );
}
