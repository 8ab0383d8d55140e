import { describe, expect, it } from 'vitest';
import { readJsonReport } from '../../../src/node/reports/json-reports.js';
import { ListedFiles } from '../../../src/node/reports/known-files.js';
import { collectResults, mergeResults } from '../../../src/node/reports/report-results.js';
import { outcomeOf } from '../../../src/node/reports/test-case.js';

const example = (id: string, status: string, run_time: number | null) => ({ id, file_path: './spec/shared.rb', status, run_time });
const rspec = (errors: number, ...examples: object[]) =>
  JSON.stringify({ version: '3.13.0', examples, summary: { errors_outside_of_examples_count: errors } });

/** Results of these files in a report. */
function resultsOf(text: string, ...paths: string[]) {
  const { cases, loadedCode } = readJsonReport(text);
  const { byFile, unmatched } = collectResults(cases, new ListedFiles(paths));
  return { byFile: Object.fromEntries(byFile), unmatched: unmatched.length, loadedCode };
}

describe('the JSON of RSpec', () => {
  it('has the times of the files that ran, and says that the others were loaded', () => {
    const examples = [example('./spec/a_spec.rb[1:1]', 'passed', 1), example('./spec/a_spec.rb[1:2]', 'failed', 2)];
    expect(resultsOf(rspec(0, ...examples, example('./spec/b_spec.rb[1:1]', 'pending', null)), 'spec/a_spec.rb', 'spec/b_spec.rb')).toEqual(
      {
        byFile: {
          'spec/a_spec.rb': { seconds: 3, isFailed: true, hasRun: true },
          'spec/b_spec.rb': { seconds: 0, isFailed: false, hasRun: false },
        },
        unmatched: 0,
        loadedCode: 0,
      },
    );
  });

  it('says nothing of the other files when there are several reports: a process may have ended without one', () => {
    const known = new ListedFiles(['spec/a_spec.rb', 'spec/b_spec.rb']);
    const results = ['a', 'b'].map(name => {
      const { cases, loadedCode } = readJsonReport(rspec(0, example(`./spec/${name}_spec.rb[1:1]`, 'passed', 1)));
      return collectResults(cases, known, loadedCode);
    });
    expect(mergeResults(results.slice(0, 1)).loadedCode).toBe(0);
    expect(mergeResults(results).loadedCode).toBe(null);
  });

  it('fails for a file that could not be loaded, and does not say that any was', () => {
    expect(resultsOf(rspec(1), 'spec/a_spec.rb')).toEqual({ byFile: {}, unmatched: 1, loadedCode: null });
    expect(readJsonReport(rspec(1)).cases).toMatchObject([{ name: 'an error outside of examples', isFailed: true }]);
    // Older versions do not count these errors.
    expect(readJsonReport('{"examples":[]}').loadedCode).toBe(null);
  });
});

describe('the JSON of Mocha', () => {
  const test = (file: string | undefined, duration?: number) => ({ title: 'a', fullTitle: 'a', file, duration, err: {} });
  const mocha = (passes: object[], failures: object[] = [], pending: object[] = []) =>
    JSON.stringify({ stats: {}, tests: [...passes, ...pending], pending, failures, passes });

  it('has the times of files, and failed hooks, which are not among its tests', () => {
    const passes = [test('/ci/test/a.test.js', 120), test('/ci/test/a.test.js', 80), test('/ci/test/quick.test.js', 0)];
    const text = mocha(passes, [test('/ci/test/a.test.js', 10), test('/ci/test/hook.test.js', 0)], [test('/ci/test/skipped.test.js')]);
    const files = ['a', 'quick', 'hook', 'skipped', 'empty'].map(name => `test/${name}.test.js`);
    expect(resultsOf(text, ...files)).toEqual({
      byFile: {
        'test/a.test.js': { seconds: expect.closeTo(0.21) as number, isFailed: true, hasRun: true },
        'test/quick.test.js': { seconds: 0.0005, isFailed: false, hasRun: true },
        'test/hook.test.js': { seconds: 0, isFailed: true, hasRun: true },
        'test/skipped.test.js': { seconds: 0, isFailed: false, hasRun: false },
      },
      unmatched: 0,
      loadedCode: null,
    });
  });

  it('fails for a hook outside of any file', () => {
    expect(readJsonReport(mocha([], [test(undefined, 1)])).cases).toMatchObject([{ name: 'a', file: null, isFailed: true }]);
  });

  it('without a test says nothing of the files', () => {
    expect(resultsOf(mocha([]), 'test/a.test.js')).toEqual({ byFile: {}, unmatched: 0, loadedCode: null });
  });
});

describe('the JSON of Jest and vitest', () => {
  const report = (...testResults: object[]) => JSON.stringify({ numTotalTests: 1, testResults });
  const test = (status: string, duration = 500) => ({ fullName: 'a test', status, duration });

  it('has the time of each file, from its start to its end', () => {
    const [a, b] = [
      { name: '/ci/src/a.test.js', status: 'passed', startTime: 1000, endTime: 3000, assertionResults: [test('passed'), test('passed')] },
      { name: '/ci/src/b.test.js', status: 'passed', startTime: 1000, endTime: 1000, assertionResults: [test('pending', 0)] },
    ];
    expect(resultsOf(report(a, b), 'src/a.test.js', 'src/b.test.js').byFile).toEqual({
      'src/a.test.js': { seconds: 2, isFailed: false, hasRun: true },
      'src/b.test.js': { seconds: 0, isFailed: false, hasRun: false },
    });
  });

  it('knows files without tests: one that is empty, and one that could not be loaded', () => {
    const [empty, broken] = [
      { name: 'a.test.js', status: 'passed', assertionResults: [] },
      { name: 'b.test.js', status: 'failed', message: 'Cannot find module', assertionResults: [] },
    ];
    expect(resultsOf(report(empty, broken), 'a.test.js', 'b.test.js').byFile).toEqual({
      'a.test.js': { seconds: 0, isFailed: false, hasRun: false },
      'b.test.js': { seconds: 0, isFailed: true, hasRun: true },
    });
  });

  it('keeps the failure of a file whose tests all passed', () => {
    const file = { name: 'a.test.js', status: 'failed', assertionResults: [test('passed')] };
    expect(resultsOf(report(file), 'a.test.js').byFile).toMatchObject({ 'a.test.js': { isFailed: true } });
  });
});

describe('a report in CTRF', () => {
  const test = (more: object) => ({ name: 'a test', status: 'passed', duration: 500, ...more });
  const ctrf = (summary: unknown, ...tests: object[]) => JSON.stringify({ results: { tool: { name: 'made up' }, summary, tests } });

  it('has the times of files, or of what the names of suites match', () => {
    const tests = [
      test({ filePath: '/ci/app/e2e/cart.spec.ts' }),
      test({ filePath: '/ci/app/e2e/cart.spec.ts', status: 'failed' }),
      test({ suite: ['a.b.UserTest', 'nested'] }),
      test({ suite: ['all', 'a.b.OrderTest$Inner'] }),
      test({ suite: 'shop::api', status: 'skipped' }),
      test({ suite: 'unknown', status: 'other' }),
    ];
    expect(resultsOf(ctrf(null, ...tests), 'e2e/cart.spec.ts', 'a.b.UserTest', 'a.b.OrderTest', 'shop::api')).toEqual({
      byFile: {
        'e2e/cart.spec.ts': { seconds: 1, isFailed: true, hasRun: true },
        'a.b.UserTest': { seconds: 0.5, isFailed: false, hasRun: true },
        'a.b.OrderTest': { seconds: 0.5, isFailed: false, hasRun: true },
        'shop::api': { seconds: 0.5, isFailed: false, hasRun: false },
      },
      unmatched: 1,
      loadedCode: null,
    });
  });

  it('counts durations that are no positive number as 0, and leaves out fields of other types', () => {
    const durations = [-1, '7', null, {}, undefined].map(duration => test({ duration, filePath: 'a.js' }));
    const strange = [7, {}, [], '', null].flatMap(value => [test({ filePath: value }), test({ suite: value })]);
    expect(resultsOf(ctrf({ failed: 'all' }, ...durations, ...strange), 'a.js')).toEqual({
      byFile: { 'a.js': { seconds: 0, isFailed: false, hasRun: true } },
      unmatched: strange.length,
      loadedCode: null,
    });
  });

  it('knows expected failures of Playwright', () => {
    const cases = [
      { rawStatus: 'passed' },
      { rawStatus: 'failed' },
      { rawStatus: 'timedOut' },
      { status: 'failed', rawStatus: 'failed' },
      {},
    ];
    const { cases: read } = readJsonReport(ctrf(null, ...cases.map(test)));
    expect(read.map(outcomeOf)).toEqual(['passed', 'expected_failure', 'expected_failure', 'failed', 'passed']);
  });

  it('gets a failed case if it counts failures but has none', () => {
    expect(readJsonReport(ctrf({ failed: 1 }, test({}))).cases).toMatchObject([{ isFailed: false }, { isFailed: true, file: null }]);
    expect(readJsonReport(ctrf({ failed: 1 }, test({ status: 'failed' }))).cases).toHaveLength(1);
  });
});

it.each([
  ['{"examples": [', 'it is not JSON of RSpec, Mocha, Jest, vitest or CTRF: '],
  ['{"testResults": [null]}', 'it is not JSON of RSpec, Mocha, Jest, vitest or CTRF: '],
  ['{"examples": [{"id": 7}]}', 'it is not JSON of RSpec, Mocha, Jest, vitest or CTRF: '],
  ['{"durations": []}', 'it is JSON, but not of RSpec, Mocha, Jest, vitest or CTRF'],
  ['{"results": {"tests": [{"status": "passed"}]}}', 'results.tests[0] has no "name"'],
  ['{"results": {"tests": [{"name": "a", "status": "passed"}, {"name": "b", "status": 1}]}}', 'results.tests[1] has no "status"'],
  ['{"results": {"tests": [null]}}', 'results.tests[0] has no "name"'],
  ['{"results": {"tests": {}}}', 'it is JSON, but not of RSpec, Mocha, Jest, vitest or CTRF'],
  ['{"stats": {}, "tests": []}', 'it is JSON, but not of RSpec, Mocha, Jest, vitest or CTRF'],
  ['{"passes": [], "pending": [], "failures": [7, null]}', 'it is not JSON of RSpec, Mocha, Jest, vitest or CTRF: '],
  ['{"results": null}', 'it is JSON, but not of RSpec, Mocha, Jest, vitest or CTRF'],
  ['{"testResults": 7}', 'it is JSON, but not of RSpec, Mocha, Jest, vitest or CTRF'],
])('JSON of no runner is refused: %s', (text, message) => {
  expect(() => readJsonReport(text)).toThrow(message);
});
