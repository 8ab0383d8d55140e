import { describe, expect, it } from 'vitest';
import { type RecordedFile, resultFromExitCode, resultFromReports, withFailure } from '../../../src/node/client/batch-results.js';
import type { PlannedFile } from '../../../src/node/client/planned-file.js';
import { ListedFiles } from '../../../src/node/reports/known-files.js';
import type { FileResult } from '../../../src/node/reports/report-results.js';

const files: PlannedFile[] = [
  { path: 'a', expected: 6 },
  { path: 'b', expected: 2 },
  { path: 'c', expected: null },
];
const FAILED = { isFailed: true };
const reports = (results: Record<string, Partial<FileResult>>) =>
  new Map(Object.entries(results).map(([path, result]) => [path, { seconds: 1, isFailed: false, hasRun: true, ...result }]));

const notRun = { seconds: 0, hasRun: false };
/** The times that are recorded, of some files with their outcomes; one that ran and had nothing to run has `ran`. */
const timed = (results: Record<string, number | 'ran' | [time: number, outcome: string]>) =>
  Object.entries(results).map(([path, time]) => {
    if (time === 'ran') return { path, time_execution: 0, ran: true, no_test: true, outcome: 'skipped' };
    return { path, ...(typeof time === 'number' ? { time_execution: time } : { time_execution: time[0], outcome: time[1] }) };
  });
const FLAKY: [number, string] = [1, 'flaky'];
const FAILED_TIME: [number, string] = [1, 'failed'];
const NO_TIME: [number, string] = [0, 'failed'];

it.each<[what: string, reported: Parameters<typeof reports>[0], passed: boolean, times: Parameters<typeof timed>[0], failed: string[]]>([
  ['takes times and failures from them', { a: { seconds: 5 }, b: FAILED, c: notRun }, false, { a: 5, b: FAILED_TIME, c: 'ran' }, ['b']],
  ['tells which files passed when they were tried again', { a: {}, b: { isFlaky: true }, c: {} }, true, { a: 1, b: FLAKY, c: 1 }, []],
  ['has no failures if it passed because the exit code is trusted', { a: {}, b: FAILED, c: {} }, true, { a: 1, b: FAILED_TIME, c: 1 }, []],
  [
    'distinguishes a file that failed to load from a time that was rounded to 0',
    { a: { seconds: 0, isFailed: true }, b: { seconds: 0 }, c: {} },
    false,
    { a: NO_TIME, b: 0.001, c: 1 },
    ['a'],
  ],
  ['records unreported files with 0 if its command succeeded', { a: {} }, true, { a: 1, b: 0, c: 0 }, []],
  ['may not have run unreported files if its command failed', { a: {}, b: {} }, false, { a: 1, b: 1 }, ['c']],
  [
    'fails with all files if its command failed, and no test',
    { a: {}, b: {}, c: {} },
    false,
    { a: FAILED_TIME, b: FAILED_TIME, c: FAILED_TIME },
    ['a', 'b', 'c'],
  ],
])('a batch with reports %s', (_, reported, passed, times, failed) => {
  expect(resultFromReports(files, reports(reported), passed)).toEqual({ recorded: timed(times), failed });
});

it('a batch with reports ran files that are known to have nothing to run, if its command succeeded', () => {
  const isEmpty = (path: string) => path === 'b';
  expect(resultFromReports(files, reports({ a: {} }), true, isEmpty).recorded).toEqual(timed({ a: 1, b: 'ran', c: 0 }));
  expect(resultFromReports(files, reports({ a: {} }), false, isEmpty).failed).toEqual(['b', 'c']);
});

it.each<[what: string, recorded: Parameters<typeof timed>[0], failed: boolean, expected: Parameters<typeof timed>[0]]>([
  ['passed leaves its outcomes', { a: 1, b: FLAKY, c: FAILED_TIME }, false, { a: 1, b: FLAKY, c: FAILED_TIME }],
  ['failed with a recorded file leaves the others', { a: 1, b: FAILED_TIME }, true, { a: 1, b: FAILED_TIME }],
  [
    'failed with no recorded file may have failed with each of them',
    { a: 1, b: FLAKY, c: 0 },
    true,
    { a: FAILED_TIME, b: FAILED_TIME, c: NO_TIME },
  ],
])('a test run that %s', (_, recorded, failed, expected) => {
  expect(withFailure(timed(recorded) as RecordedFile[], failed)).toEqual(timed(expected));
});

it('a batch with reports may have failed with each file if a test case of an unknown file failed, and none of a known one', () => {
  const resultOf = (reported: Parameters<typeof reports>[0], passed = false) =>
    resultFromReports(files, reports(reported), passed, () => false, true);
  expect(resultOf({ a: {}, b: {} })).toEqual({ recorded: timed({ a: FAILED_TIME, b: FAILED_TIME }), failed: ['a', 'b', 'c'] });
  expect(resultOf({ a: {}, b: FAILED })).toEqual({ recorded: timed({ a: 1, b: FAILED_TIME }), failed: ['b', 'c'] });
  expect(resultOf({ a: {}, b: {}, c: {} }, true)).toEqual({ recorded: timed({ a: 1, b: 1, c: 1 }), failed: [] });
});

describe('a batch of more files than a function call takes arguments', () => {
  const paths = Array.from({ length: 150_000 }, (_, i) => `${i}/index.test.js`);

  it('fails with all files', () => {
    const many = paths.map(path => ({ path, expected: null }));
    const { failed } = resultFromReports(many, reports(Object.fromEntries(paths.map(path => [path, {}]))), false);
    expect(failed.join() === paths.join()).toBe(true);
  });

  it('matches no file by an ending that all files share', () => {
    expect(new ListedFiles(paths).find('index.test.js')).toBeNull();
  });
});

describe('a batch without reports', () => {
  const unmeasured = files.map(({ path }) => ({ path, expected: null }));

  it.each<[what: string, planned: PlannedFile[], seconds: number, passed: boolean, times: Parameters<typeof timed>[0], failed: string[]]>([
    ['divides its time by the expected times; an unmeasured file gets their mean', files, 24, true, { a: 12, b: 4, c: 8 }, []],
    ['divides its time evenly if no file was measured', unmeasured, 6, true, { a: 2, b: 2, c: 2 }, []],
    ['has no times if it failed, and fails with all files', files, 24, false, { a: NO_TIME, b: NO_TIME, c: NO_TIME }, ['a', 'b', 'c']],
  ])('%s', (_, planned, seconds, passed, times, failed) => {
    expect(resultFromExitCode(planned, seconds, passed)).toEqual({ recorded: timed(times), failed });
  });
});
