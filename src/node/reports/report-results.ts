import { findFile } from './find-file.js';
import type { KnownFiles } from './known-files.js';
import type { TestCase, TestSuite } from './test-case.js';

/** Reported results of one file. */
export interface FileResult {
  seconds: number;
  isFailed: boolean;
  /** False if all of its cases were skipped. */
  hasRun: boolean;
  /** Set if one of its cases passed when the runner tried it again. */
  isFlaky?: true;
  /** Set if the time of one of its cases cannot be read. */
  isUnmeasured?: true;
  /** Of a plugin: the names of its cases that failed. An empty name: something else in the file did. */
  failures?: readonly string[];
}

/** Contents of one report of a run. */
export interface Report {
  cases: TestCase[];
  /** As in ReportResults. */
  loadedCode: number | null;
  /** Its runner writes it also when a signal ends the run: the last file in it may have been cut off. Missing: it is written at the end only. */
  mayBeCutOff?: boolean;
}

export interface ReportResults {
  byFile: Map<string, FileResult>;
  /** The test cases of each file. */
  cases: Map<string, TestCase[]>;
  /** Test cases whose file is not known. */
  unmatched: TestCase[];
  /**
   * The exit code that says, beside this report, that the runner loaded every file that it was given: those in no report have nothing to run.
   * Null: no exit code does.
   */
  loadedCode: number | null;
}

interface SuiteSum {
  /** The file of the first case. */
  file: string | null;
  caseSeconds: number;
  /** True if the suite has cases of several files. */
  isShared: boolean;
}

/** A suite of a nested class (`a.b.Outer$Inner`). Surefire up to 3.5.2 puts the cases of the classes around it into it, too. */
const NESTED_CLASS = /^\p{L}[\p{L}\p{N}_.]*\$[\p{L}\p{N}_$]+$/u;

/**
 * Adds up the times of files in one report. A suite with cases of one file counts with its own time, which includes loading the file
 * and counts nested or concurrent cases once. Otherwise, and for a nested class, the times of the cases are added.
 */
export class FileTimes {
  readonly #byFile = new Map<string, FileResult>();
  readonly #suites = new Map<TestSuite, SuiteSum>();

  /** @param file the file of the case; null: not known */
  add({ suite, seconds, isFailed, isSkipped, isFlaky, isUnmeasured }: TestCase, file: string | null): void {
    const sum = this.#suites.get(suite);
    if (!sum) this.#suites.set(suite, { file, caseSeconds: seconds, isShared: false });
    else {
      sum.caseSeconds += seconds;
      sum.isShared ||= sum.file !== file;
    }
    const more = { ...(isFlaky && { isFlaky }), ...(isUnmeasured && { isUnmeasured }) };
    if (file !== null) addResult(this.#byFile, file, { seconds, isFailed, hasRun: !isSkipped, ...more });
  }

  /** Returns the results after the last case. */
  end(): Map<string, FileResult> {
    for (const [{ name, seconds }, { file, caseSeconds, isShared }] of this.#suites) {
      if (file !== null && !isShared && seconds > 0 && !NESTED_CLASS.test(name)) this.#byFile.get(file)!.seconds += seconds - caseSeconds;
    }
    this.#suites.clear();
    return this.#byFile;
  }
}

/** Adds what one more case, attempt or report says about a file. */
export function addResult(byFile: Map<string, FileResult>, file: string, more: FileResult): void {
  const { seconds, isFailed, hasRun, isFlaky, isUnmeasured } = more;
  const before: FileResult = byFile.get(file) ?? { seconds: 0, isFailed: false, hasRun: false };
  const failures = [...(before.failures ?? []), ...(more.failures ?? [])];
  byFile.set(file, {
    seconds: before.seconds + seconds,
    isFailed: before.isFailed || isFailed,
    hasRun: before.hasRun || hasRun,
    ...((before.isFlaky || isFlaky) && { isFlaky: true }),
    ...((before.isUnmeasured || isUnmeasured) && { isUnmeasured: true }),
    ...(failures.length > 0 && { failures }),
  });
}

function addCases(byFile: Map<string, TestCase[]>, file: string, cases: readonly TestCase[]): void {
  const before = byFile.get(file);
  if (!before) byFile.set(file, [...cases]);
  else for (const testCase of cases) before.push(testCase);
}

/** Returns what one report says about the known files. */
export function collectResults(cases: readonly TestCase[], known: KnownFiles, loadedCode: number | null = null): ReportResults {
  const times = new FileTimes();
  const unmatched: TestCase[] = [];
  const byFile = new Map<string, TestCase[]>();
  for (const testCase of cases) {
    const file = findFile(testCase, known);
    if (file === null) unmatched.push(testCase);
    else addCases(byFile, file, [testCase]);
    times.add(testCase, file);
  }
  return { byFile: times.end(), cases: byFile, unmatched, loadedCode };
}

/** Merges the results of several reports, such as the shards of one run. */
export function mergeResults(all: readonly ReportResults[]): ReportResults {
  const byFile = new Map<string, FileResult>();
  const cases = new Map<string, TestCase[]>();
  for (const results of all) {
    for (const [file, result] of results.byFile) addResult(byFile, file, result);
    for (const [file, ofFile] of results.cases) addCases(cases, file, ofFile);
  }
  return {
    byFile,
    cases,
    unmatched: all.flatMap(({ unmatched }) => unmatched),
    // Of several processes, one may have ended without a report.
    loadedCode: all.length === 1 ? all[0]!.loadedCode : null,
  };
}
