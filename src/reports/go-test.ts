import { limits } from '../limits.js';
import type { TestCase } from './junit.js';
import { ReportError } from './report.js';

/** A line of `go test -json`; there are others, which say nothing of times. */
interface Event {
  Action?: string;
  Package?: string;
  Test?: string;
  Elapsed?: number;
}

const PACKAGE = /^(ok {2}|FAIL|\? {3})\t(\S+)(?:\t(?:(\d+(?:\.\d+)?)s|(\(cached\))|\[.*\]))?/;
const TEST = /^\s*--- (PASS|FAIL|SKIP): (.+) \((\d+(?:\.\d+)?)s\)$/;

/** Behind what the compiler says, where that goes to the same file. */
const EVENT = /^\{"(?:Time|Action|ImportPath)":/m;

/** Whether this is what `go test` prints, plain or with -json. */
export function isGoTest(text: string): boolean {
  if (text.trimStart().startsWith('<')) return false;
  return EVENT.test(text) || text.split('\n', 10_000).some(line => PACKAGE.test(line) || TEST.test(line));
}

/**
 * The test cases of what `go test` prints, as a JUnit report made of it has them: a suite a package, with the package's own time. A
 * package without a case that is told of has one, so that its time and failure are not lost.
 */
export function readGoTest(text: string): TestCase[] {
  if (text.length > limits.reportCharacters) throw new ReportError(`it has more than ${limits.reportCharacters} characters`);
  return EVENT.test(text) ? readEvents(text) : readLines(text);
}

function readEvents(text: string): TestCase[] {
  const byPackage = new Map<string, TestCase[]>();
  const cases: TestCase[] = [];
  for (const [number, line] of text.split('\n').entries()) {
    if (!EVENT.test(line)) continue;
    const { Action, Package, Test, Elapsed = 0 } = parseEvent(line, number + 1);
    if (Package === undefined || !/^(pass|fail|skip)$/.test(Action ?? '')) continue;
    const own = byPackage.get(Package) ?? [];
    byPackage.set(Package, own);
    if (Test === undefined) for (const testCase of finishPackage(Package, own, Action!, Elapsed)) cases.push(testCase);
    else own.push(makeCase(Test, Elapsed, Action!));
  }
  return cases;
}

function parseEvent(line: string, number: number): Event {
  try {
    return JSON.parse(line) as Event;
  } catch (error) {
    throw new ReportError(`it is not what go test -json prints: line ${number}: ${(error as Error).message}`);
  }
}

/** Cases come before their package. Without -v only those that failed are told. What comes from the cache did not run now. */
function readLines(text: string): TestCase[] {
  const cases: TestCase[] = [];
  let own: TestCase[] = [];
  for (const line of text.split('\n')) {
    const test = TEST.exec(line.trimEnd());
    if (test) own.push(makeCase(test[2]!, Number(test[3]), test[1]!.toLowerCase()));
    const [, state, name, seconds = '0', cached] = PACKAGE.exec(line) ?? [];
    if (name === undefined) continue;
    for (const testCase of finishPackage(
      name,
      own,
      state === 'FAIL' ? 'fail' : state === 'ok  ' && !cached ? 'pass' : 'skip',
      Number(seconds),
    ))
      cases.push(testCase);
    own = [];
  }
  return cases;
}

/** The cases of a package that ended so. */
function finishPackage(name: string, cases: readonly TestCase[], action: string, seconds: number): TestCase[] {
  const isUntold = cases.length === 0 || (action === 'fail' && !cases.some(({ isFailed }) => isFailed));
  const all = isUntold ? [...cases, makeCase('', 0, action)] : cases;
  const suite = { name, seconds };
  return all.map(testCase => ({ ...testCase, suite, classname: name }));
}

function makeCase(name: string, seconds: number, action: string): TestCase {
  return {
    file: null,
    suite: { name: '', seconds: 0 },
    classname: '',
    name,
    seconds,
    isFailed: action === 'fail',
    isSkipped: action === 'skip',
  };
}
