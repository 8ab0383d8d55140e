import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { glob } from 'tinyglobby';
import { printToStderr } from '../../base/terminal.js';
import type { Mutes } from '../mutes/mutes.js';
import { isDartTest, readDartTest } from '../reports/dart-test.js';
import { isGoTest, readGoTest } from '../reports/go-test.js';
import { readJsonReport } from '../reports/json-reports.js';
import type { KnownFiles } from '../reports/known-files.js';
import { decodeReport, type Note, OtherXml, ReportError } from '../reports/report.js';
import { collectResults, mergeResults, type Report, type ReportResults } from '../reports/report-results.js';
import type { TestCase } from '../reports/test-case.js';
import { loadedCodeOf, mayBeCutOff, readJunit } from '../reports/xml/junit.js';
import { isTrx, readTrx } from '../reports/xml/trx.js';
import { isFile, relativeToCwd } from './test-files.js';

/**
 * Reads a report in any of the formats, and prints a warning about times that are odd. Throws an Error that names the file; its cause is the
 * error of the reader.
 */
export function readReport(path: string): Report {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new Error(`cannot read the report ${path}: ${(error as Error).message}`, { cause: error });
  }
  try {
    const text = decodeReport(bytes);
    if (text.trim() === '') throw new ReportError('it is empty');
    if (isJsonReport(text)) return readJsonReport(text);
    const cases = readCases(text, sentence => printToStderr(`WARNING: ${path}: ${sentence}`));
    return { cases, loadedCode: loadedCodeOf(text, cases), mayBeCutOff: mayBeCutOff(text) };
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    throw new Error(`cannot use the report ${path}: ${error.message}`, { cause: error });
  }
}

/** Contents of several reports together. */
export interface ReadReports {
  results: ReportResults;
  /** The last file of each report that may have been cut off. */
  cutOff: string[];
  /** The number of reports that could be read. */
  count: number;
  /** Why others could not. XML of another kind may lie among reports. */
  unusable: { message: string; isOtherXml: boolean }[];
}

/** Reads the reports of a run, as far as they can be used, and matches them to the known files. */
export function readReports(paths: readonly string[], known: KnownFiles): ReadReports {
  const results: ReportResults[] = [];
  const cutOff: string[] = [];
  const unusable: ReadReports['unusable'] = [];
  for (const path of paths) {
    try {
      const { cases, loadedCode, mayBeCutOff } = readReport(path);
      const own = collectResults(cases, known, loadedCode);
      results.push(own);
      if (mayBeCutOff) cutOff.push(...[...own.byFile.keys()].slice(-1));
    } catch (error) {
      const { message, cause } = error as Error;
      unusable.push({ message, isOtherXml: cause instanceof OtherXml });
    }
  }
  const merged = mergeResults(results);
  // What a broken report would have said is not known.
  const isWhole = unusable.every(({ isOtherXml }) => isOtherXml);
  return { results: isWhole ? merged : { ...merged, loadedCode: null }, cutOff, count: results.length, unusable };
}

/** JSON of one document, not of a line for each event. */
function isJsonReport(text: string): boolean {
  return text.trimStart().startsWith('{') && !isGoTest(text) && !isDartTest(text);
}

function readCases(text: string, note: Note): TestCase[] {
  if (isGoTest(text)) return readGoTest(text);
  if (isDartTest(text)) return readDartTest(text);
  return isTrx(text) ? readTrx(text) : readJunit(text, note);
}

/** Returns the name of a test case for messages. */
export function testCaseName({ suite, classname, name }: TestCase): string {
  return `${classname} ${name}`.trim() || suite.name || 'a suite without a name';
}

/** Returns the names, for messages, of the files that failed and of the failed test cases of unknown files. */
export function failureNames({ byFile, unmatched }: ReportResults): string[] {
  return [
    ...[...byFile].filter(([, { isFailed }]) => isFailed).map(([path]) => path),
    ...unmatched.filter(({ isFailed }) => isFailed).map(testCaseName),
  ];
}

/** Reports whether each failure of a file that reports tell is muted. One that failed in no time could not be loaded: its cases are not known. */
export function areFailuresMuted(mutes: Mutes, path: string, { byFile, cases }: ReportResults): boolean {
  const result = byFile.get(path);
  const failed = result && result.seconds > 0 ? (cases.get(path) ?? []).filter(({ isFailed }) => isFailed) : [];
  return result?.isFailed === true && mutes.cover(path, failed);
}

/** Leaves out the other paths of a file that several name, such as /ci/junit.xml and ../junit.xml: its times would count twice. */
export function onePathEach(paths: readonly string[]): string[] {
  return [...new Map(paths.map(path => [resolve(path), path])).values()];
}

/** Returns the files that globs of reports match, each once, sorted. A path that exists is taken literally, even if it looks like a glob. */
export async function findReports(globs: readonly string[]): Promise<string[]> {
  const patterns = globs.map(relativeToCwd);
  if (patterns.length === 0) return [];
  return onePathEach([...(await glob(patterns, { dot: true, expandDirectories: false })), ...patterns.filter(isFile)]).sort();
}

/** Finds the reports that were written since the last snapshot. */
export class ReportWatch {
  #snapshot = new Map<string, string>();

  readonly #globs: readonly string[];

  constructor(globs: readonly string[]) {
    this.#globs = globs;
  }

  async snapshot(): Promise<void> {
    this.#snapshot = await this.#fingerprints();
  }

  /** Returns the reports that are new or have changed since the snapshot. */
  async changed(): Promise<string[]> {
    const now = await this.#fingerprints();
    return [...now].filter(([path, fingerprint]) => this.#snapshot.get(path) !== fingerprint).map(([path]) => path);
  }

  async #fingerprints(): Promise<Map<string, string>> {
    const fingerprints = new Map<string, string>();
    for (const path of await findReports(this.#globs)) {
      const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (stats) fingerprints.set(path, `${stats.ino} ${stats.size} ${stats.mtimeNs}`);
    }
    return fingerprints;
  }
}
