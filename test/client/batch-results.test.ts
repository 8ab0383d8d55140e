import { describe, expect, it } from 'vitest';
import { type PlannedFile, resultFromExitCode, resultFromReports } from '../../src/client/batch-results.js';
import { ListedFiles } from '../../src/reports/known-files.js';
import type { FileResult } from '../../src/reports/report-results.js';

const files: PlannedFile[] = [
  { path: 'a', expected: 6 },
  { path: 'b', expected: 2 },
  { path: 'c', expected: null },
];
const recorded = (times: Record<string, number>) => Object.entries(times).map(([path, time_execution]) => ({ path, time_execution }));
const reports = (results: Record<string, Partial<FileResult>>) =>
  new Map(Object.entries(results).map(([path, result]) => [path, { seconds: 1, isFailed: false, hasRun: true, ...result }]));

describe('a batch with reports', () => {
  it('takes times and failures from them', () => {
    const reported = reports({ a: { seconds: 5 }, b: { seconds: 2, isFailed: true }, c: { seconds: 0, hasRun: false } });
    expect(resultFromReports(files, reported, false)).toEqual({
      recorded: [...recorded({ a: 5, b: 2 }), { path: 'c', time_execution: 0, ran: true }],
      failed: ['b'],
    });
  });

  it('has no failures if it passed because the exit code is trusted', () => {
    expect(resultFromReports(files, reports({ a: {}, b: { isFailed: true }, c: {} }), true)).toEqual({
      recorded: recorded({ a: 1, b: 1, c: 1 }),
      failed: [],
    });
  });

  it('distinguishes a file that failed to load from a time that was rounded to 0', () => {
    expect(resultFromReports(files, reports({ a: { seconds: 0, isFailed: true }, b: { seconds: 0 }, c: {} }), false).recorded).toEqual(
      recorded({ a: 0, b: 0.001, c: 1 }),
    );
  });

  it('records unreported files with 0 if its command succeeded', () => {
    expect(resultFromReports(files, reports({ a: {} }), true)).toEqual({
      recorded: recorded({ a: 1, b: 0, c: 0 }),
      failed: [],
    });
  });

  it('ran files that are known to have nothing to run, if its command succeeded', () => {
    const isEmpty = (path: string) => path === 'b';
    expect(resultFromReports(files, reports({ a: {} }), true, isEmpty).recorded).toEqual([
      { path: 'a', time_execution: 1 },
      { path: 'b', time_execution: 0, ran: true },
      { path: 'c', time_execution: 0 },
    ]);
    expect(resultFromReports(files, reports({ a: {} }), false, isEmpty).failed).toEqual(['b', 'c']);
  });

  it('may not have run unreported files if its command failed', () => {
    expect(resultFromReports(files, reports({ a: {}, b: {} }), false)).toEqual({
      recorded: recorded({ a: 1, b: 1 }),
      failed: ['c'],
    });
  });

  it('fails with all files if its command failed although all tests passed', () => {
    expect(resultFromReports(files, reports({ a: {}, b: {}, c: {} }), false).failed).toEqual(['a', 'b', 'c']);
  });
});

describe('a batch of more files than a function call takes arguments', () => {
  const paths = Array.from({ length: 150_000 }, (_, i) => `${i}/index.test.js`);

  it('fails with all files', () => {
    const many = paths.map(path => ({ path, expected: null }));
    expect(
      resultFromReports(many, new Map(many.map(({ path }) => [path, { seconds: 1, isFailed: false, hasRun: true }])), false).failed,
    ).toEqual(paths);
  });

  it('matches no file by an ending that all files share', () => {
    expect(new ListedFiles(paths).find('index.test.js')).toBeNull();
  });
});

describe('a batch without reports', () => {
  it('divides its time by the expected times; an unmeasured file gets their mean', () => {
    expect(resultFromExitCode(files, 24, true)).toEqual({ recorded: recorded({ a: 12, b: 4, c: 8 }), failed: [] });
  });

  it('divides its time evenly if no file was measured', () => {
    const unknown = files.map(({ path }) => ({ path, expected: null }));
    expect(resultFromExitCode(unknown, 6, true).recorded).toEqual(recorded({ a: 2, b: 2, c: 2 }));
  });

  it('has no times if it failed, and fails with all files', () => {
    expect(resultFromExitCode(files, 24, false)).toEqual({
      recorded: recorded({ a: 0, b: 0, c: 0 }),
      failed: ['a', 'b', 'c'],
    });
  });
});
