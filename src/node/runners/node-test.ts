import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { escapeXml } from '../../base/xml.js';
import { pathOf } from './path-of.js';

/** The used part of an event of node:test. Paths are absolute. */
export interface TestEvent {
  type: string;
  data: {
    name?: string;
    nesting?: number;
    /** Of a test, the file that calls `test`, which may be a helper of several test files. */
    file?: string;
    /** The test file whose process runs the test. Node 20 and 22 do not say it. */
    entryFile?: string;
    skip?: string | boolean;
    todo?: string | boolean;
    counts?: { tests: number };
    details?: { duration_ms?: number; passed?: boolean; error?: TestError };
  };
}

interface TestError {
  message?: string;
  failureType?: string;
  cause?: unknown;
}

interface Outcome {
  name: string;
  seconds: number;
  /** Null: it passed. */
  error: TestError | null;
}

/** The process of a test file: all tests between two summaries, which name the file. */
interface Run {
  file?: string | undefined;
}

interface Case extends Outcome {
  file: string | undefined;
  run: Run;
  isSkipped: boolean;
}

/**
 * A reporter of node:test, from Node 20 on. Writes a JUnit report with a suite for each test file, which has the time and the outcome of
 * the process of the file. The file of a test is the one that was run, even if a helper registers the test; Node 20 does not say it, so the
 * report leaves out such a test there.
 */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, Outcome>();
  const cases: Case[] = [];
  /** Files none of whose tests was selected. Of a program that registers none, it is not known. */
  const untested = new Set<string>();
  const titles: string[] = [];
  let run: Run = {};
  let lastNesting = 0;
  for await (const { type, data } of events) {
    const { name = '', nesting = 0, file, entryFile, details = {} } = data;
    const isFile = nesting === 0 && file !== undefined && resolve(name) === file;
    const outcome = { seconds: (details.duration_ms ?? 0) / 1000, error: null };
    if (type === 'test:complete' && isFile)
      files.set(file, { ...outcome, name: pathOf(file), error: details.passed === false ? (details.error ?? {}) : null });
    if (type === 'test:start') titles.splice(nesting, titles.length, name);
    if (type === 'test:summary') {
      run.file = file;
      run = {};
      if (file !== undefined && data.counts?.tests === 0) untested.add(file);
    }
    if ((type !== 'test:pass' && type !== 'test:fail') || isFile) continue;
    const error = type === 'test:fail' ? (details.error ?? {}) : null;
    // A parent comes after its children. Its outcome is theirs, unless it failed by itself.
    const isParent = lastNesting > nesting;
    lastNesting = nesting;
    if (isParent && (error === null || error.failureType === 'subtestsFailed')) continue;
    const title = [...titles.slice(0, nesting), name].join(' > ');
    const isSkipped = isSet(data.skip) || isSet(data.todo);
    cases.push({ ...outcome, name: title, error, file: entryFile ?? file, run, isSkipped });
  }
  const suites = new Map<string | undefined, Case[]>([...files.keys()].map(file => [file, []]));
  // A process that ends early has no summary, so what a test file registers itself does not need one.
  for (const testCase of cases) (suites.get(testCase.file) ?? suites.get(testCase.run.file))?.push(testCase);
  yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n';
  for (const [file, outcome] of files) yield suite(outcome, suites.get(file)!, untested.has(file));
  yield '</testsuites>\n';
}

function suite(file: Outcome, cases: readonly Case[], isUntested: boolean): string {
  const attributes = (name: string, seconds: number) =>
    `name="${escapeXml(name)}" file="${escapeXml(file.name)}" time="${seconds.toFixed(6)}"`;
  const texts = cases.map(({ name, seconds, error, isSkipped }) => {
    const content = isSkipped ? '<skipped/>' : error && file.error ? failure(error) : '';
    return `<testcase ${attributes(name, seconds)}>${content}</testcase>`;
  });
  // The process may fail without a failed test, and may run no test.
  if (texts.length === 0 || (file.error && !texts.some(text => text.includes('<failure '))))
    texts.push(`<testcase ${attributes(file.name, 0)}>${file.error ? failure(file.error) : isUntested ? '<skipped/>' : ''}</testcase>`);
  return `<testsuite ${attributes(file.name, file.seconds)}>\n${texts.join('\n')}\n</testsuite>\n`;
}

function failure(error: TestError): string {
  return `<failure message="${escapeXml(String(error.message ?? 'failed'))}">${escapeXml(inspect(error.cause ?? error))}</failure>`;
}

/** `skip: ''` has no reason, but is set. */
function isSet(directive: string | boolean | undefined): boolean {
  return directive !== undefined && directive !== false;
}
