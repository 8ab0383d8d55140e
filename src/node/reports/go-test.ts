import { ReportError } from './report.js';
import { emptyCase, type TestCase, withResult } from './test-case.js';

/** A line of `go test -json`. */
interface Event {
  Action?: string;
  Package?: string;
  Test?: string;
  Elapsed?: number;
  Output?: string;
}

const PACKAGE = /^(ok {2}|FAIL|\? {3})\t(\S+)(?:\t(?:(\d+(?:\.\d+)?)s|(\(cached\))|\[.*\]))?/;
const NO_TESTS = '[no tests to run]';
const TEST = /^\s*--- (PASS|FAIL|SKIP): (.+) \((\d+(?:\.\d+)?)s\)$/;

/** Messages of the compiler may precede it. */
const EVENT = /^\{"(?:Time|Action|ImportPath)":/m;

/** Reports whether a text is output of `go test`, plain or with -json. */
export function isGoTest(text: string): boolean {
  if (text.trimStart().startsWith('<')) return false;
  return EVENT.test(text) || text.split('\n', 10_000).some(line => PACKAGE.test(line) || TEST.test(line));
}

/**
 * Returns the test cases in the output of `go test`. Each package is a suite with its own time. A package without reported cases gets one
 * without a name, so that its time and failure are not lost.
 */
export function readGoTest(text: string): TestCase[] {
  return EVENT.test(text) ? readEvents(text) : readLines(text);
}

function readEvents(text: string): TestCase[] {
  const byPackage = new Map<string, TestCase[]>();
  const untested = new Set<string>();
  const cases: TestCase[] = [];
  for (const [number, line] of text.split('\n').entries()) {
    if (!EVENT.test(line)) continue;
    const { Action, Package, Test, Elapsed = 0, Output } = parseEvent(line, number + 1);
    if (Package !== undefined && Output?.includes(NO_TESTS)) untested.add(Package);
    if (Package === undefined || !/^(pass|fail|skip)$/.test(Action ?? '')) continue;
    const packageCases = byPackage.get(Package) ?? [];
    byPackage.set(Package, packageCases);
    if (Test === undefined) {
      const action = untested.has(Package) ? 'skip' : Action!;
      for (const testCase of finishPackage(Package, packageCases, action, Elapsed)) cases.push(testCase);
    } else packageCases.push(makeCase(Test, Elapsed, Action!));
  }
  return cases;
}

function parseEvent(line: string, number: number): Event {
  try {
    return JSON.parse(line) as Event;
  } catch (error) {
    throw new ReportError(`it is not output of go test -json: line ${number}: ${(error as Error).message}`);
  }
}

/** Cases precede their package. Without -v only failed cases are printed. A cached package passed before, and takes no time now. */
function readLines(text: string): TestCase[] {
  const cases: TestCase[] = [];
  let packageCases: TestCase[] = [];
  for (const line of text.split('\n')) {
    const test = TEST.exec(line.trimEnd());
    if (test) packageCases.push(makeCase(test[2]!, Number(test[3]), test[1]!.toLowerCase()));
    const [, state, name, seconds = '0', cached] = PACKAGE.exec(line) ?? [];
    if (name === undefined) continue;
    const action = state === 'FAIL' ? 'fail' : state === 'ok  ' && !line.includes(NO_TESTS) ? 'pass' : 'skip';
    const finished = finishPackage(name, packageCases, action, Number(seconds));
    for (const testCase of finished) cases.push(cached ? { ...testCase, isUnmeasured: true } : testCase);
    packageCases = [];
  }
  return cases;
}

/** Returns the cases of a package with its name and time. */
function finishPackage(name: string, cases: readonly TestCase[], action: string, seconds: number): TestCase[] {
  const suite = { name, seconds };
  return withResult(cases, makeCase('', 0, action)).map(testCase => ({ ...testCase, suite, classname: name }));
}

function makeCase(name: string, seconds: number, action: string): TestCase {
  return { ...emptyCase, name, seconds, isFailed: action === 'fail', isSkipped: action === 'skip' };
}
