import { posix } from 'node:path';
import { fileOf } from '../../protocol/test-case.js';
import { jsonValues } from './json.js';
import { type ReadReport, ReportError } from './report.js';
import type { Report } from './report-results.js';
import { emptyCase, type TestCase, type TestSuite, withResult } from './test-case.js';

/** The JSON of RSpec (`--format json`). */
interface RspecJson {
  examples: { id?: string; file_path?: string; full_description?: string; status?: string; run_time?: number | null }[];
  summary?: { errors_outside_of_examples_count?: number } | null;
}

/** The JSON of Jest (`--json --outputFile`) and vitest (`--reporter=json`). */
interface JestJson {
  testResults: {
    name?: string;
    status?: string;
    startTime?: number;
    endTime?: number;
    /** Jest counts the invocations of a test. */
    assertionResults?: { fullName?: string; status?: string; duration?: number | null; invocations?: number }[] | null;
  }[];
}

/** The JSON of Mocha (`--reporter json`). A hook that failed is among the failures, but not among the tests. */
interface MochaJson {
  passes: MochaTest[];
  pending: MochaTest[];
  failures: MochaTest[];
}

interface MochaTest {
  fullTitle?: string;
  /** Missing: a hook outside of any suite. */
  file?: string;
  /** Whole milliseconds. */
  duration?: number;
}

/** A report in the Common Test Report Format. Each of its fields may be missing or of another type. */
interface CtrfJson {
  results: { tests: unknown[]; summary?: { failed?: unknown } | null };
}

/** Returns the test cases of a report in the JSON of RSpec, Mocha, Jest, vitest or CTRF. Throws a ReportError. */
export function readJsonReport(text: string): Report {
  try {
    const json = JSON.parse(text) as Partial<RspecJson & MochaJson & JestJson & CtrfJson>;
    if (Array.isArray(json.examples)) return readRspec(json as RspecJson);
    if ([json.passes, json.pending, json.failures].every(Array.isArray))
      return { cases: casesOfMocha(json as MochaJson), loadedCode: null };
    if (Array.isArray(json.testResults)) return { cases: (json as JestJson).testResults.flatMap(casesOfFile), loadedCode: null };
    if (Array.isArray(json.results?.tests)) return { cases: casesOfCtrf(json as CtrfJson), loadedCode: null };
  } catch (error) {
    throw new ReportError(`it is not JSON of RSpec, Mocha, Jest, vitest or CTRF: ${(error as Error).message}`);
  }
  throw new ReportError('it is JSON, but not of RSpec, Mocha, Jest, vitest or CTRF');
}

/** A report that counts failures but has no failed test gets a failed case without a file. */
function casesOfCtrf({ results: { tests, summary } }: CtrfJson): TestCase[] {
  const reader = new CtrfTests();
  const cases = tests.map((test, i) => reader.read(test, i));
  const failed = typeof summary?.failed === 'number' ? summary.failed : 0;
  return failed > 0 && !cases.some(({ isFailed }) => isFailed) ? [...cases, { ...emptyCase, name: 'the test run', isFailed: true }] : cases;
}

/** Reads the tests of a report in CTRF: a time in milliseconds, and the file or the names of the suites around the test. */
class CtrfTests {
  readonly #suites = new Map<string, TestSuite>();

  read(test: unknown, index: number | string): TestCase {
    const { name, status, rawStatus, flaky, duration, filePath, suite } = (test ?? {}) as Record<string, unknown>;
    if (typeof name !== 'string') throw new ReportError(`results.tests[${index}] has no "name"`);
    if (typeof status !== 'string') throw new ReportError(`results.tests[${index}] has no "status"`);
    // Older reports have one text.
    const suites = (Array.isArray(suite) ? suite : [suite]).filter(part => typeof part === 'string');
    return {
      file: typeof filePath === 'string' && filePath !== '' ? filePath : null,
      suite: this.#suite(suites[0] ?? ''),
      classname: suites.at(-1) ?? '',
      name,
      seconds: secondsOf(duration) / 1000,
      isFailed: status === 'failed',
      isSkipped: status === 'skipped' || status === 'pending',
      // Of Playwright.
      isExpectedFailure: status === 'passed' && (rawStatus === 'failed' || rawStatus === 'timedOut'),
      ...(flaky === true && status === 'passed' && { isFlaky: true }),
    };
  }

  #suite(name: string): TestSuite {
    const suite = this.#suites.get(name) ?? { name, seconds: 0 };
    this.#suites.set(name, suite);
    return suite;
  }
}

/** Yields the test cases of a report in CTRF. */
export async function* ctrfCases(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TestCase> {
  const reader = new CtrfTests();
  for await (const { value, at } of jsonValues(bytes, ['$.results.tests.*'])) yield reader.read(value, at[2]!);
}

/** RSpec names only files with examples. It loads every file that it is given, and counts what fails to load. */
function readRspec({ examples, summary }: RspecJson): Report {
  const cases = examples.map(({ id = '', file_path = null, full_description = '', status, run_time }) => ({
    // The path of a shared example is where it is written. Its id names the file that was run.
    ...emptyCase,
    file: fileOf(id) ?? file_path,
    name: full_description,
    seconds: secondsOf(run_time),
    isFailed: status === 'failed',
    isSkipped: status === 'pending',
  }));
  const errors = summary?.errors_outside_of_examples_count;
  if (errors) cases.push({ ...emptyCase, name: 'an error outside of examples', isFailed: true });
  return { cases, loadedCode: errors === 0 ? 0 : null, mayBeCutOff: true };
}

/** No exit code says that a file without cases was loaded: Mocha ends with 0 after a path that matches nothing, or that a test.only hides. */
function casesOfMocha({ passes, pending, failures }: MochaJson): TestCase[] {
  const read = ({ fullTitle = '', file, duration }: MochaTest, leastMs: number): TestCase => ({
    ...emptyCase,
    file: file ?? null,
    name: fullTitle,
    seconds: Math.max(leastMs, secondsOf(duration)) / 1000,
  });
  return [
    // Mocha rounds: a test that passed in 0 ms did run.
    ...passes.map(test => read(test, 0.5)),
    ...pending.map(test => ({ ...read(test, 0), isSkipped: true })),
    ...failures.map(test => ({ ...read(test, 0), isFailed: true })),
  ];
}

/** A file without cases gets one without a name, so that its failure, or that it is empty, is not lost. */
function casesOfFile({ name, status, startTime = 0, endTime = 0, assertionResults }: JestJson['testResults'][number]): readonly TestCase[] {
  const isFailed = status === 'failed';
  const suite = { name: name ?? '', seconds: secondsOf(endTime - startTime) / 1000 };
  const result = { ...emptyCase, file: name ?? null, suite, isFailed, isSkipped: !isFailed };
  const cases = (assertionResults ?? []).map(({ fullName, duration, status, invocations = 1 }) => ({
    ...result,
    name: fullName ?? '',
    seconds: secondsOf(duration) / 1000,
    isFailed: status === 'failed',
    isSkipped: status !== 'passed' && status !== 'failed',
    ...(status === 'passed' && invocations > 1 && { isFlaky: true as const }),
  }));
  return withResult(cases, result);
}

function secondsOf(time: unknown): number {
  return typeof time === 'number' && time > 0 ? time : 0;
}

interface TestResult {
  name?: unknown;
  /** Results processors of Jest get this field instead of `name`. */
  testFilePath?: unknown;
  startTime?: unknown;
  endTime?: unknown;
  perfStats?: { start?: unknown; end?: unknown } | null;
  assertionResults?: { duration?: number | null }[] | null;
}

/**
 * Reads the JSON of Jest (`--json --outputFile`) and vitest (`--reporter=json`). A file takes the time from its start to its end, or, without
 * these, the sum of its tests.
 */
export const readJest: ReadReport = async (bytes, addTime) => {
  for await (const { value, at } of jsonValues(bytes, ['$.testResults.*'])) {
    const result = (value ?? {}) as TestResult;
    const path = result.name ?? result.testFilePath;
    if (typeof path !== 'string') throw new ReportError(`testResults[${String(at[1])}] has no "name"`);
    addTime(path, duration(result) / 1000);
  }
};

function duration({ startTime, endTime, perfStats, assertionResults }: TestResult): number {
  const start = startTime ?? perfStats?.start;
  const end = endTime ?? perfStats?.end;
  if (typeof start === 'number' && typeof end === 'number') return end - start;
  return assertionResults?.length ? assertionResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0) : NaN;
}

interface PlaywrightSuite {
  file?: unknown;
  specs?: { tests?: { results?: { duration?: number | null }[] | null }[] | null }[] | null;
  suites?: PlaywrightSuite[] | null;
}

/**
 * Reads the output of Playwright's JSON reporter. A file takes the time of its tests in all projects. Only the last attempt of a test counts,
 * because retries are accidents. Paths are relative to the folder of the configuration file, as on the command line, unless a root is given.
 * Merged reports name no configuration file: their paths are absolute.
 */
export const readPlaywright: ReadReport = async (bytes, addTime, { root }) => {
  let rootDir = '';
  let configFile = '';
  const times = new Map<string, number>();
  for await (const { value, at } of jsonValues(bytes, ['$.config.rootDir', '$.config.configFile', '$.suites.*'])) {
    if (at[0] === 'suites') {
      const suite = (value ?? {}) as PlaywrightSuite;
      if (typeof suite.file !== 'string') throw new ReportError(`suites[${String(at[1])}] has no "file"`);
      // Each project may have its own suite for the file.
      times.set(suite.file, (times.get(suite.file) ?? 0) + suiteDuration(suite));
    } else if (typeof value === 'string') {
      if (at[1] === 'rootDir') rootDir = toForwardSlashes(value);
      else configFile = toForwardSlashes(value);
    }
  }
  for (const [file, milliseconds] of times) {
    const path = posix.join(rootDir, toForwardSlashes(file));
    addTime(root === null && configFile ? posix.relative(posix.dirname(configFile), path) : path, milliseconds / 1000);
  }
};

function suiteDuration({ specs, suites }: PlaywrightSuite): number {
  let sum = 0;
  for (const { tests } of specs ?? []) for (const { results } of tests ?? []) sum += results?.at(-1)?.duration ?? 0;
  for (const suite of suites ?? []) sum += suiteDuration(suite);
  return sum;
}

/** On Windows some paths have backslashes. */
function toForwardSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}
