import { describe, expect, it } from 'vitest';
import { failureReason, type PlannedFile, resultFromExitCode, resultFromReports } from '../../src/client/batch-results.js';
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
  it('has the times and failures that they tell', () => {
    const told = reports({ a: { seconds: 5 }, b: { seconds: 2, isFailed: true }, c: { seconds: 0, hasRun: false } });
    expect(resultFromReports(files, told, false)).toEqual({ recorded: recorded({ a: 5, b: 2, c: 0 }), failed: ['b'], allRan: true });
  });

  it('that passed, because the exit code is trusted, has no failures', () => {
    expect(resultFromReports(files, reports({ a: {}, b: { isFailed: true }, c: {} }), true)).toEqual({
      recorded: recorded({ a: 1, b: 1, c: 1 }),
      failed: [],
      allRan: true,
    });
  });

  it('has no time of a file that took none: it failed before it ran, or the report rounds', () => {
    expect(resultFromReports(files, reports({ a: { seconds: 0, isFailed: true }, b: { seconds: 0 }, c: {} }), false).recorded).toEqual(
      recorded({ a: 0, b: 0.001, c: 1 }),
    );
  });

  it('whose command succeeded had nothing to run in what they leave out', () => {
    expect(resultFromReports(files, reports({ a: {} }), true)).toEqual({
      recorded: recorded({ a: 1, b: 0, c: 0 }),
      failed: [],
      allRan: true,
    });
  });

  it('whose command failed did not run, or not to its end, what they leave out', () => {
    expect(resultFromReports(files, reports({ a: {}, b: {} }), false)).toEqual({
      recorded: recorded({ a: 1, b: 1 }),
      failed: ['c'],
      allRan: false,
    });
  });

  it('whose command failed though all of them passed is run again whole', () => {
    expect(resultFromReports(files, reports({ a: {}, b: {}, c: {} }), false).failed).toEqual(['a', 'b', 'c']);
  });
});

describe('a batch whose command ended with 0', () => {
  const nothing = { failed: [], unreadable: [], unreported: [] };

  it('passed when its reports leave nothing open, or only files that they do not mention', () => {
    expect(failureReason(nothing, {})).toBeNull();
    expect(failureReason({ ...nothing, unreported: ['a'] }, {})).toBeNull();
  });

  it.each([
    ['a failure in a report', { ...nothing, failed: ['a'] }, 'a report has failures (a); let the command return the exit code'],
    ['a report that cannot be read', { ...nothing, unreadable: ['r.xml'] }, 'a report cannot be read (r.xml); let the command'],
  ])('failed for %s, unless its exit code is trusted', (_, evidence, sentence) => {
    expect(failureReason(evidence, {})).toContain(sentence);
    expect(failureReason(evidence, {})).toContain('--trust-exit-code');
    expect(failureReason(evidence, { trustExitCode: true })).toBeNull();
  });

  it('failed for a file that no report mentions where that is asked for, trusted or not', () => {
    const evidence = { ...nothing, unreported: ['a', 'b', 'c', 'd', 'e', 'f'] };
    expect(failureReason(evidence, { failUnreported: true, trustExitCode: true })).toBe(
      'no report mentions 6 test files (a, b, c, d, e and 1 more), and --fail-unreported is given',
    );
  });
});

describe('a batch of more files than a call takes arguments', () => {
  const paths = Array.from({ length: 150_000 }, (_, i) => `${i}/index.test.js`);

  it('is run again whole', () => {
    const many = paths.map(path => ({ path, expected: null }));
    expect(
      resultFromReports(many, new Map(many.map(({ path }) => [path, { seconds: 1, isFailed: false, hasRun: true }])), false).failed,
    ).toEqual(paths);
  });

  it('has none that is told of by an ending that all have', () => {
    expect(new ListedFiles(paths).find('index.test.js')).toBeNull();
  });
});

describe('a batch without reports', () => {
  it('is shared out by what its files should take, and one that was never measured is as the others', () => {
    expect(resultFromExitCode(files, 24, true)).toEqual({ recorded: recorded({ a: 12, b: 4, c: 8 }), failed: [], allRan: true });
  });

  it('is shared out evenly when nothing is known', () => {
    const unknown = files.map(({ path }) => ({ path, expected: null }));
    expect(resultFromExitCode(unknown, 6, true).recorded).toEqual(recorded({ a: 2, b: 2, c: 2 }));
  });

  it('tells no times when it failed, and failed whole', () => {
    expect(resultFromExitCode(files, 24, false)).toEqual({
      recorded: recorded({ a: 0, b: 0, c: 0 }),
      failed: ['a', 'b', 'c'],
      allRan: true,
    });
  });
});
