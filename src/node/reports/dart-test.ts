import { ReportError } from './report.js';
import { emptyCase, type TestCase } from './test-case.js';

/** An event of the JSON reporter. Each of its fields may be missing or of another type. */
interface Event {
  type?: unknown;
  /** Milliseconds since the start of the runner. */
  time?: unknown;
  suite?: { id?: unknown; path?: unknown } | null;
  test?: { id?: unknown; name?: unknown; suiteID?: unknown; groupIDs?: unknown } | null;
  testID?: unknown;
  result?: unknown;
  skipped?: unknown;
  success?: unknown;
}

interface RunningTest {
  testCase: TestCase;
  startedAt: unknown;
  /** A test that stands for the loading of its file. */
  isLoading: boolean;
  isDone: boolean;
}

/** The first event. The output of the compiler, and lists of events of Flutter, may surround it. */
const START = /^\{[^\n]{0,200}"protocolVersion":/m;
const EVENT = /^\{.*"type":"(?:suite|testStart|testDone|error|done)"/;

/** Reports whether a text has events of `dart test --reporter json`, `--file-reporter json:FILE` or `flutter test --machine`. */
export function isDartTest(text: string): boolean {
  return !text.trimStart().startsWith('<') && START.test(text);
}

/**
 * Returns the test cases in the events of a Dart test runner. Set-ups and tear-downs that the runner hides are cases, too. The loading of a file
 * is a case without a time, because several files are loaded at a time and wait for one compiler. A run that did not succeed, or has no end,
 * without a failed test gets a failed case without a file.
 */
export function readDartTest(text: string): TestCase[] {
  const paths = new Map<unknown, string>();
  const tests = new Map<unknown, RunningTest>();
  let success: unknown;
  for (const [number, line] of text.split('\n').entries()) {
    if (!EVENT.test(line)) continue;
    const event = parseEvent(line, number + 1);
    const test = tests.get(event.testID);
    if (event.type === 'suite' && typeof event.suite?.path === 'string') paths.set(event.suite.id, event.suite.path);
    else if (event.type === 'testStart' && event.test) tests.set(event.test.id, startTest(event, paths));
    else if (event.type === 'testDone' && test) endTest(test, event);
    // It may follow the end of its test.
    else if (event.type === 'error' && test) test.testCase.isFailed = true;
    else if (event.type === 'done') success = event.success;
  }
  const cases = Array.from(tests.values(), ({ testCase, isDone }) => (isDone ? testCase : { ...testCase, isFailed: true }));
  const isExplained = success === true || cases.some(({ isFailed }) => isFailed);
  const name = success === undefined ? 'the test run, which has no end' : 'the test run';
  return isExplained ? cases : [...cases, { ...emptyCase, name, isFailed: true }];
}

function startTest({ test, time }: Event, paths: ReadonlyMap<unknown, string>): RunningTest {
  const name = typeof test!.name === 'string' ? test!.name : '';
  const isLoading = name.startsWith('loading ') && !(Array.isArray(test!.groupIDs) && test!.groupIDs.length > 0);
  return { testCase: { ...emptyCase, file: paths.get(test!.suiteID) ?? null, name }, startedAt: time, isLoading, isDone: false };
}

function endTest(test: RunningTest, { time, result, skipped }: Event): void {
  const { testCase, startedAt, isLoading } = test;
  test.isDone = true;
  testCase.isFailed ||= result !== 'success';
  testCase.isSkipped = skipped === true || (isLoading && !testCase.isFailed);
  if (!isLoading && typeof time === 'number' && typeof startedAt === 'number') testCase.seconds = Math.max(0, time - startedAt) / 1000;
}

function parseEvent(line: string, number: number): Event {
  try {
    return JSON.parse(line) as Event;
  } catch (error) {
    throw new ReportError(`it has no valid events of a Dart test runner: line ${number}: ${(error as Error).message}`);
  }
}
