import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ListedFiles } from '../../../src/node/reports/known-files.js';
import { collectResults } from '../../../src/node/reports/report-results.js';
import { readJunit } from '../../../src/node/reports/xml/junit.js';
import report, { type TestEvent } from '../../../src/node/runners/node-test.js';

const [A, B, HELPER] = ['test/a.test.js', 'test/b.test.js', 'test/helper.js'];
type Data = TestEvent['data'] & { error?: object | undefined };
const absolute = (file: string) => join(process.cwd(), file);
const FAILED = { message: 'failed', failureType: 'testCodeFailure', cause: new Error('expected') };

/** The last event of a test, which has failed if there is an error. */
function test(name: string, file: string, { error, ...more }: Data = {}): TestEvent {
  const details = { duration_ms: 10, ...(error && { error }) };
  return { type: error ? 'test:fail' : 'test:pass', data: { name, nesting: 0, file: absolute(file), details, ...more } };
}

const start = (name: string, nesting: number): TestEvent => ({ type: 'test:start', data: { name, nesting } });

/** What the runner tells when the process of a file has ended. It takes 500 ms. */
function fileEnd(file: string, passed = true): TestEvent {
  const details = { duration_ms: 500, passed, ...(!passed && { error: { message: 'test failed', failureType: 'subtestsFailed' } }) };
  return { type: 'test:complete', data: { name: file, nesting: 0, file: absolute(file), details } };
}

const summary = (file?: string): TestEvent => ({ type: 'test:summary', data: file ? { file: absolute(file) } : {} });

async function read(...events: (TestEvent | TestEvent[])[]) {
  const source = (async function* () {
    yield* events.flat();
  })();
  let xml = '';
  for await (const part of report(source)) xml += part;
  const { byFile, cases, unmatched } = collectResults(readJunit(xml), new ListedFiles([A, B]));
  expect(unmatched).toEqual([]);
  const names = [...cases].map(([file, ofFile]) => [
    file,
    ofFile.map(({ name, isFailed, isSkipped }) => name + (isFailed ? ' failed' : '') + (isSkipped ? ' skipped' : '')),
  ]);
  return { byFile: Object.fromEntries(byFile), names: Object.fromEntries(names) as Record<string, string[]> };
}

const passed = { seconds: 0.5, isFailed: false, hasRun: true };
const failed = { ...passed, isFailed: true };

it.each<[string, (entryFile: string) => Data, (file?: string) => TestEvent[]]>([
  ['Node 24, which names the file at each test', entryFile => ({ entryFile: absolute(entryFile) }), () => []],
  ['Node 22, which names it in a summary', () => ({}), file => [summary(file)]],
])('the tests of a helper belong to the file that was run, with %s', async (_, of, end) => {
  const { byFile, names } = await read(
    // The processes of both files run at once.
    fileEnd(B, false),
    test('one', HELPER, of(A)),
    end(A),
    fileEnd(A),
    test('one', HELPER, { ...of(B), error: FAILED }),
    test('own', B, of(B)),
    end(B),
    end(),
  );
  expect(byFile).toEqual({ [A]: passed, [B]: failed });
  expect(names).toEqual({ [A]: ['one'], [B]: ['one failed', 'own'] });
});

it('with Node 20, which does not say whose they are, the process of a file has its outcome', async () => {
  const { byFile, names } = await read(
    test('one', HELPER),
    fileEnd(A),
    test('own', B),
    test('one', HELPER, { error: FAILED }),
    fileEnd(B, false),
  );
  expect(byFile).toEqual({ [A]: passed, [B]: failed });
  expect(names).toEqual({ [A]: [A], [B]: ['own', `${B} failed`] });
});

it('a file without tests has run, and one that cannot be loaded or that fails after its tests has failed', async () => {
  const ofFile = (file: string, error?: object) => test(file, file, { error });
  const { byFile, names } = await read(fileEnd(A), ofFile(A), test('own', B), summary(B), fileEnd(B, false), ofFile(B, FAILED));
  expect(byFile).toEqual({ [A]: passed, [B]: failed });
  expect(names).toEqual({ [A]: [A], [B]: ['own', `${B} failed`] });
});

it('a file none of whose tests is selected is skipped', async () => {
  const none = { type: 'test:summary', data: { file: absolute(A), counts: { tests: 0 } } };
  expect((await read(none, fileEnd(A))).byFile).toEqual({ [A]: { ...passed, hasRun: false } });
});

it('tests within others have the names of these, which count themselves only for a failure of their own', async () => {
  const nested = (name: string, nesting: number, error?: object) => [start(name, nesting), test(name, A, { nesting, error })];
  const end = (name: string, nesting: number, error?: object) => test(name, A, { nesting, error });
  const { names } = await read(
    [start('cart', 0), ...nested('adds', 1), start('sums', 1), ...nested('all', 2, FAILED)],
    end('sums', 1, { message: '1 subtest failed', failureType: 'subtestsFailed' }),
    end('cart', 0, { message: 'after hook', failureType: 'hookFailed' }),
    nested('alone', 0),
    fileEnd(A, false),
  );
  expect(names).toEqual({ [A]: ['cart > adds', 'cart > sums > all failed', 'cart failed', 'alone'] });
});

it('a test that is skipped or still to do is skipped, even if it fails', async () => {
  const { byFile, names } = await read(
    test('skip', A, { skip: true }),
    test('why', A, { skip: 'slow' }),
    test('todo', A, { todo: '', error: FAILED }),
    fileEnd(A),
  );
  expect(names).toEqual({ [A]: ['skip skipped', 'why skipped', 'todo skipped'] });
  expect(byFile).toEqual({ [A]: { ...passed, hasRun: false } });
});

it('what XML cannot hold is replaced', async () => {
  const name = 'a "b" <c> & \'d\'\u0007\ud800\n\t😀';
  const { names } = await read(test(name, A, { error: { message: name, cause: name } }), fileEnd(A, false));
  expect(names).toEqual({ [A]: ['a "b" <c> & \'d\'\ufffd\ufffd\n\t😀 failed'] });
});
