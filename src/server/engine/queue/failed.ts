import { limits } from '../../../protocol/limits.js';
import { fileOf } from '../../../protocol/test-case.js';
import type { Batch, CasesByFile } from './batch.js';

/** The failures of a batch. */
export type Failed = Pick<Batch, 'failed_cases'> & { failed: number[] };

/**
 * Bounds what a node reported as failed, before it is passed to another thread. If it costs more than the limit, the test cases become their
 * files: these run again as a whole in any case, because so many cases are not stored. Null: the files cost more, too, and all of the batch
 * counts as failed.
 */
export function boundFailed(reported: readonly string[]): readonly string[] | null {
  if (isCheap(reported)) return reported;
  const files = [...new Set(reported.map(path => fileOf(path) ?? path))];
  return isCheap(files) ? files : null;
}

function isCheap(paths: readonly string[]): boolean {
  return paths.reduce((sum, path) => sum + path.length + limits.failedCharactersPerPath, 0) <= limits.failedCharactersPerReport;
}

/**
 * Maps the paths that a node reported as failed, of files or of test cases in them, to files of the batch.
 * All files count as failed when a path is not in the batch.
 *
 * @param paths the paths of the batch's files, in their order
 * @param reported null: all of them
 */
export function failedOf({ files }: Pick<Batch, 'files'>, paths: readonly string[], reported: readonly string[] | null): Failed {
  if (!reported) return { failed: files };
  const fileByPath = new Map(paths.map((path, i) => [path, files[i]!]));
  /** The failed test cases of each failed file; null: the whole file. */
  const casesByFile = new Map<number, string[] | null>();
  for (const path of new Set(reported)) {
    const listed = fileByPath.get(path);
    const file = listed ?? fileByPath.get(fileOf(path) ?? path);
    if (file === undefined) return { failed: files };
    const cases = casesByFile.get(file);
    if (listed !== undefined) casesByFile.set(file, null);
    else if (cases === undefined) casesByFile.set(file, [path]);
    else cases?.push(path);
  }
  const failed = files.filter(file => casesByFile.has(file));
  const failed_cases = [...casesByFile].filter((entry): entry is CasesByFile[number] => entry[1] !== null);
  const count = failed_cases.reduce((sum, [, cases]) => sum + cases.length, 0);
  // With more failed cases than the limit, the whole files are run again.
  return count === 0 || count > limits.failedCasesPerBatch ? { failed } : { failed, failed_cases };
}

/** Returns the files of a queue that failed when they were last run, with the failed test cases; null: the whole file. */
export function failedIn(batches: Iterable<Batch>): Map<number, string[] | null> {
  const failed = new Map<number, string[] | null>();
  for (const batch of batches) {
    if (!batch.failed) continue;
    const cases = new Map(batch.failed_cases);
    for (const file of batch.files) failed.delete(file);
    for (const file of batch.failed) failed.set(file, cases.get(file) ?? null);
  }
  return failed;
}
