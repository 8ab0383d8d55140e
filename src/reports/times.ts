import { fileOf } from './file-of.js';
import type { TestCase } from './junit.js';
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

/**
 * What one report says of the known files. A file takes what its suite takes, where that has no other file's cases: that contains
 * loading it, and counts cases that ran at the same time, or within others, once. Else it takes what its cases take.
 */
export function timesOf(cases: readonly TestCase[], known: KnownFiles): Results {
  const byFile = new Map<string, FileResult>();
  const strays: TestCase[] = [];
  const suites = new Map<number, { file: string | null; seconds: number; ofCases: number; isShared: boolean }>();
  for (const testCase of cases) {
    const file = fileOf(testCase, known);
    const { suiteNumber, suiteSeconds, seconds, isFailed, isSkipped } = testCase;
    const suite = suites.get(suiteNumber);
    if (!suite) suites.set(suiteNumber, { file, seconds: suiteSeconds, ofCases: seconds, isShared: false });
    else {
      suite.ofCases += seconds;
      suite.isShared ||= suite.file !== file;
    }
    if (file === null) {
      strays.push(testCase);
      continue;
    }
    const result = byFile.get(file);
    if (result) {
      result.seconds += seconds;
      result.isFailed ||= isFailed;
      result.hasRun ||= !isSkipped;
    } else byFile.set(file, { seconds, isFailed, hasRun: !isSkipped });
  }
  for (const { file, seconds, ofCases, isShared } of suites.values()) {
    if (file !== null && !isShared && seconds > 0) byFile.get(file)!.seconds += seconds - ofCases;
  }
  return { byFile, strays };
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
