import { limits } from '../../limits.js';
import { fileOf } from '../../planning/estimating/test-case.js';
import type { Batch, CasesByFile } from './batch.js';

/** What of a batch failed. */
export type Failed = Pick<Batch, 'failed_cases'> & { failed: number[] };

/**
 * What of a batch failed, by what its node told: files, or test cases in them. All of it when the node told something that is
 * not in the batch.
 *
 * @param paths those of the batch's files, in their order
 */
export function failedOf({ files }: Pick<Batch, 'files'>, paths: readonly string[], told: readonly string[]): Failed {
  const fileAt = new Map(paths.map((path, i) => [path, files[i]!]));
  /** Null: the file itself was told. */
  const casesOf = new Map<number, string[] | null>();
  for (const path of new Set(told)) {
    const itself = fileAt.get(path);
    const file = itself ?? fileAt.get(fileOf(path) ?? path);
    if (file === undefined) return { failed: files };
    if (itself !== undefined) casesOf.set(file, null);
    else if (!casesOf.has(file)) casesOf.set(file, [path]);
    else casesOf.get(file)?.push(path);
  }
  const failed = files.filter(file => casesOf.has(file));
  const failed_cases = [...casesOf].filter((entry): entry is CasesByFile[number] => entry[1] !== null);
  const count = failed_cases.reduce((sum, [, cases]) => sum + cases.length, 0);
  // Of so many that failed the files may as well be run.
  return count === 0 || count > limits.failedCasesPerBatch ? { failed } : { failed, failed_cases };
}

/** The files of a queue that failed and were not run without a failure since, with the test cases that did; null: the file itself. */
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
