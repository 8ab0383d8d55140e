import { fileOf } from './file-of.js';
import type { TestCase } from './junit.js';
import type { KnownFiles } from './known-files.js';

/** What reports say of one file. */
export interface FileResult {
  seconds: number;
  isFailed: boolean;
}

export interface Results {
  byFile: Map<string, FileResult>;
  /** Cases of which no known file is told. */
  strays: TestCase[];
}

/**
 * What one report says of the known files. A file takes what its cases take, or what its suite takes where that has no other
 * file's cases: that contains loading it.
 */
export function timesOf(cases: readonly TestCase[], known: KnownFiles): Results {
  const byFile = new Map<string, FileResult>();
  const strays: TestCase[] = [];
  const suites = new Map<number, { file: string | null; seconds: number; ofCases: number; isShared: boolean }>();
  for (const testCase of cases) {
    const file = fileOf(testCase, known);
    const { suiteNumber, suiteSeconds, seconds, isFailed } = testCase;
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
    } else byFile.set(file, { seconds, isFailed });
  }
  for (const { file, seconds, ofCases, isShared } of suites.values()) {
    if (file !== null && !isShared && seconds > ofCases) byFile.get(file)!.seconds += seconds - ofCases;
  }
  return { byFile, strays };
}
