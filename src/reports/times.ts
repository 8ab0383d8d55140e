import { fileOf } from './file-of.js';
import type { Suite, TestCase } from './junit.js';
import type { KnownFiles } from './known-files.js';

/** What reports say of one file. */
export interface FileResult {
  seconds: number;
  isFailed: boolean;
  /** Some case of it was not skipped. */
  hasRun: boolean;
}

export interface Results {
  byFile: Map<string, FileResult>;
  /** Cases of which no known file is told. */
  strays: TestCase[];
}

interface SuiteSum {
  /** Of its first case. */
  file: string | null;
  ofCases: number;
  isShared: boolean;
}

/**
 * Adds up what one report says of files. A file takes what its suite takes, where that has no other file's cases: that contains
 * loading it, and counts cases that ran at the same time, or within others, once. Else it takes what its cases take.
 */
export class FileTimes {
  readonly #byFile = new Map<string, FileResult>();
  readonly #suites = new Map<Suite, SuiteSum>();

  /** @param file that a case is in, null when it is in none that is known */
  add({ suite, seconds, isFailed, isSkipped }: TestCase, file: string | null): void {
    const sum = this.#suites.get(suite);
    if (!sum) this.#suites.set(suite, { file, ofCases: seconds, isShared: false });
    else {
      sum.ofCases += seconds;
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
    for (const [{ seconds }, { file, ofCases, isShared }] of this.#suites) {
      if (file !== null && !isShared && seconds > 0) this.#byFile.get(file)!.seconds += seconds - ofCases;
    }
    this.#suites.clear();
    return this.#byFile;
  }
}

/** What one report says of the known files. */
export function timesOf(cases: readonly TestCase[], known: KnownFiles): Results {
  const times = new FileTimes();
  const strays: TestCase[] = [];
  for (const testCase of cases) {
    const file = fileOf(testCase, known);
    if (file === null) strays.push(testCase);
    times.add(testCase, file);
  }
  return { byFile: times.end(), strays };
}

/** What several reports say together: shards of one run, or runs of parts. */
export function together(all: readonly Results[]): Results {
  const byFile = new Map<string, FileResult>();
  for (const results of all) {
    for (const [file, { seconds, isFailed, hasRun }] of results.byFile) {
      const before = byFile.get(file) ?? { seconds: 0, isFailed: false, hasRun: false };
      byFile.set(file, { seconds: before.seconds + seconds, isFailed: before.isFailed || isFailed, hasRun: before.hasRun || hasRun });
    }
  }
  return { byFile, strays: all.flatMap(({ strays }) => strays) };
}
