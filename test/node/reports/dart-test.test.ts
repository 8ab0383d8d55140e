import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isDartTest, readDartTest } from '../../../src/node/reports/dart-test.js';
import { ListedFiles } from '../../../src/node/reports/known-files.js';
import { ReportError } from '../../../src/node/reports/report.js';
import { collectResults } from '../../../src/node/reports/report-results.js';
import { fixturePath } from './fixture.js';

const START = { protocolVersion: '0.1.1', runnerVersion: '1.25.8', pid: 1, type: 'start', time: 0 };
const DONE = { success: true, type: 'done', time: 9000 };
const suite = { suite: { id: 0, platform: 'vm', path: '/ci/app/test/a_test.dart' }, type: 'suite', time: 0 };
const started = (id: unknown, time: unknown, more: object = {}) => ({
  test: { id, name: 'a test', suiteID: 0, groupIDs: [2], ...more },
  type: 'testStart',
  time,
});
const ended = (testID: unknown, time: unknown, more: object = {}) => ({
  testID,
  result: 'success',
  skipped: false,
  hidden: false,
  type: 'testDone',
  time,
  ...more,
});
const events = (...all: object[]) => `${[START, suite, ...all].map(event => JSON.stringify(event)).join('\n')}\n`;
const listed = new ListedFiles(['test/a_test.dart']);
const resultOf = (...all: object[]) => collectResults(readDartTest(events(...all)), listed).byFile.get('test/a_test.dart');

describe('the events of a Dart test runner', () => {
  it('have the times of files without their loading, but with hidden set-ups', () => {
    const text = readFileSync(fixturePath('dart-test.json'), 'utf8');
    expect(isDartTest(text)).toBe(true);
    const { byFile } = collectResults(
      readDartTest(text),
      new ListedFiles(['test/cart_test.dart', 'test/user_test.dart', 'test/broken_test.dart']),
    );
    expect(Object.fromEntries(byFile)).toEqual({
      'test/cart_test.dart': { seconds: 0.751, isFailed: false, hasRun: true },
      'test/user_test.dart': { seconds: 0.3, isFailed: true, hasRun: true },
      'test/broken_test.dart': { seconds: 0, isFailed: true, hasRun: true },
    });
  });

  it('may stand between other output, as flutter test --machine prints it', () => {
    const text = events(started(1, 0), ended(1, 1500), DONE);
    const [first, ...others] = text.split('\n');
    const mixed = ['Downloading...', first, '[{"event":"test.startedProcess","params":{}}]', '{ "my": "output"', ...others].join('\n');
    expect(isDartTest(mixed)).toBe(true);
    expect(collectResults(readDartTest(mixed), listed).byFile.get('test/a_test.dart')?.seconds).toBe(1.5);
  });

  it('tell of a file that was loaded and has no test', () => {
    const loading = { name: 'loading /ci/app/test/a_test.dart', groupIDs: [] };
    expect(resultOf(started(1, 0, loading), ended(1, 2000, { hidden: true }), DONE)).toEqual({
      seconds: 0,
      isFailed: false,
      hasRun: false,
    });
  });

  it('have a test with the name of a loading, as any other', () => {
    expect(resultOf(started(1, 0, { name: 'loading a page' }), ended(1, 2000), DONE)).toMatchObject({ seconds: 2, hasRun: true });
  });

  it('fail a test that has an error after its end, or no end', () => {
    const error = { testID: 1, error: 'x', stackTrace: '', isFailure: false, type: 'error', time: 20 };
    expect(resultOf(started(1, 0), ended(1, 10), error, DONE)).toMatchObject({ isFailed: true });
    expect(resultOf(started(1, 0))).toMatchObject({ isFailed: true });
  });

  it.each([
    ['did not succeed', { ...DONE, success: false }, 'the test run'],
    ['was ended', { ...DONE, success: null }, 'the test run'],
    ['has no end', {}, 'the test run, which has no end'],
  ])('get a failed case if the run %s without a failed test', (_, done, name) => {
    expect(readDartTest(events(started(1, 0), ended(1, 10), done))).toMatchObject([
      { isFailed: false },
      { isFailed: true, file: null, name },
    ]);
  });

  it('count a time that is no number, or before the start, as 0', () => {
    for (const [from, to] of [
      ['a', 'b'],
      [null, 5],
      [10, 5],
      [{}, []],
    ])
      expect(resultOf(started(1, from), ended(1, to), DONE)).toMatchObject({ seconds: 0, isFailed: false });
  });

  it('may have fields of other types', () => {
    const strange = [
      { type: 'suite', suite: null },
      { type: 'suite', suite: { id: 4, path: 7 } },
      { type: 'testStart', test: null },
      { type: 'testStart', test: { id: {}, name: [], suiteID: 4, groupIDs: 'x' } },
      { type: 'testDone', testID: [] },
      { type: 'error' },
    ];
    expect(readDartTest(events(...strange, DONE))).toMatchObject([{ file: null, name: '', isFailed: true }]);
  });

  it('are refused if one is cut off, with its line', () => {
    const cut = `${events()}{"testID":1,"type":"testDone",`;
    expect(() => readDartTest(cut)).toThrow(ReportError);
    expect(() => readDartTest(cut)).toThrow('line 3: ');
  });

  it('are told from reports that contain them', () => {
    expect(isDartTest(`<testsuite><system-out>\n${events()}</system-out></testsuite>`)).toBe(false);
    expect(isDartTest('{"numTotalTests":1}')).toBe(false);
  });
});
