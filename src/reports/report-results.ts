import { findFile } from './find-file.js';
import type { TestCase, TestSuite } from './junit.js';
import type { KnownFiles } from './known-files.js';

/** What reports say of one file. */
export interface FileResult {
  seconds: number;
  isFailed: boolean;
  /** Some case of it was not skipped. */
  hasRun: boolean;
}

export interface ReportResults {
  byFile: Map<string, FileResult>;
  /** Cases of which no known file is told. */
  unmatched: TestCase[];
}

interface SuiteSum {
  /** Of its first case. */
  file: string | null;
  caseSeconds: number;
  isShared: boolean;
}

/**
 * Adds up what one report says of files. A file takes what its suite takes, where that has no other file's cases: that contains
 * loading it, and counts cases that ran at the same time, or within others, once. Else it takes what its cases take.
 */
export class FileTimes {
  readonly #byFile = new Map<string, FileResult>();
  readonly #suites = new Map<TestSuite, SuiteSum>();

  /** @param file that a case is in, null when it is in none that is known */
  add({ suite, seconds, isFailed, isSkipped }: TestCase, file: string | null): void {
    const sum = this.#suites.get(suite);
    if (!sum) this.#suites.set(suite, { file, caseSeconds: seconds, isShared: false });
    else {
      sum.caseSeconds += seconds;
      sum.isShared ||= sum.file !== file;
    }
    if (file === null) return;
    const result = this.#byFile.get(file);
    if (result) {
      result.seconds += seconds;
      result.isFailed ||= isFailed;
      result.hasRun ||= !isSkipped;
    } else this.#byFile.set(file, { seconds, isFailed, hasRun: !isSkipped });
  }

  /** After the last case. */
  end(): Map<string, FileResult> {
    for (const [{ seconds }, { file, caseSeconds, isShared }] of this.#suites) {
      if (file !== null && !isShared && seconds > 0) this.#byFile.get(file)!.seconds += seconds - caseSeconds;
    }
    this.#suites.clear();
    return this.#byFile;
  }
}

/** What one report says of the known files. */
export function collectResults(cases: readonly TestCase[], known: KnownFiles): ReportResults {
  const times = new FileTimes();
  const unmatched: TestCase[] = [];
  for (const testCase of cases) {
    const file = findFile(testCase, known);
    if (file === null) unmatched.push(testCase);
    times.add(testCase, file);
  }
  return { byFile: times.end(), unmatched };
}

/** What several reports say together: shards of one run, or runs of parts. */
export function mergeResults(all: readonly ReportResults[]): ReportResults {
  const byFile = new Map<string, FileResult>();
  for (const results of all) {
    for (const [file, { seconds, isFailed, hasRun }] of results.byFile) {
      const before = byFile.get(file) ?? { seconds: 0, isFailed: false, hasRun: false };
      byFile.set(file, { seconds: before.seconds + seconds, isFailed: before.isFailed || isFailed, hasRun: before.hasRun || hasRun });
    }
  }
  return { byFile, unmatched: all.flatMap(({ unmatched }) => unmatched) };
}
