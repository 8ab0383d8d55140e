import { readFileSync, statSync } from 'node:fs';
import { glob } from 'tinyglobby';
import { decoderFor } from '../reports/encoding.js';
import { isGoTest, readGoTest } from '../reports/go-test.js';
import { readJunit, type TestCase } from '../reports/junit.js';
import { ReportError } from '../reports/report.js';
import type { ReportResults } from '../reports/report-results.js';
import { isFile, relativeToCwd } from './test-files.js';

/** Reads the test cases of a report. Throws an Error that names the file and the problem; its cause is the reader's error. */
export function readReport(path: string): TestCase[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new Error(`cannot read the report ${path}: ${(error as Error).message}`, { cause: error });
  }
  try {
    const text = decoderFor(bytes).decode(bytes);
    return isGoTest(text) ? readGoTest(text) : readJunit(text);
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    throw new Error(`cannot use the report ${path}: ${error.message}`, { cause: error });
  }
}

/** The name of a test case in messages. */
export function testCaseName({ suite, classname, name }: TestCase): string {
  return `${classname} ${name}`.trim() || suite.name || 'a suite without a name';
}

/** The names, in messages, of the files and of the other test cases that failed. */
export function failureNames({ byFile, unmatched }: ReportResults): string[] {
  return [
    ...[...byFile].filter(([, { isFailed }]) => isFailed).map(([path]) => path),
    ...unmatched.filter(({ isFailed }) => isFailed).map(testCaseName),
  ];
}

/** Which reports that some globs name were written since `look`. */
export class ReportWatch {
  #snapshot = new Map<string, string>();

  readonly #globs: readonly string[];

  constructor(globs: readonly string[]) {
    this.#globs = globs.map(relativeToCwd);
  }

  /** Remembers the reports that are there. */
  async snapshot(): Promise<void> {
    this.#snapshot = await this.#fingerprints();
  }

  /** Those that were made or changed since. */
  async changed(): Promise<string[]> {
    const now = await this.#fingerprints();
    return [...now].filter(([path, mark]) => this.#snapshot.get(path) !== mark).map(([path]) => path);
  }

  async #fingerprints(): Promise<Map<string, string>> {
    const fingerprints = new Map<string, string>();
    if (this.#globs.length === 0) return fingerprints;
    // What exists is a path, though it may look like a glob.
    const named = [...this.#globs.filter(isFile), ...(await glob([...this.#globs], { dot: true, expandDirectories: false }))];
    for (const path of [...new Set(named)].sort()) {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (found) fingerprints.set(path, `${found.ino} ${found.size} ${found.mtimeNs}`);
    }
    return fingerprints;
  }
}
