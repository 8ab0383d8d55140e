import { describe, expect, it } from 'vitest';
import { suiteOf } from '../../../src/engine/suites/suite.js';
import { limits } from '../../../src/limits.js';
import { emptyBasis, fileBasis } from '../../../src/planning/estimating/basis.js';
import type { BranchExpectation, BranchTiming, BranchTimings } from '../../../src/planning/estimating/branch-timings.js';
import { expectationOn } from '../../../src/planning/estimating/branch-timings.js';
import { measuredTimes } from '../../../src/planning/estimating/measured-times.js';

const [MAIN, FEATURE, NEW] = [1, 2, 3];

/** A timing of one build. */
const timing = (seconds: number, branch: number | null = MAIN, at = 0): BranchTiming => ({
  branch,
  before: null,
  build: 1,
  times: [seconds],
  at,
});

/** The times of paths as a branch finds them, with MAIN as the default branch. */
function timesOn(branch: number, timings: Record<string, BranchTimings>, paths: readonly string[], mostCases = 100) {
  const list = suiteOf(paths);
  const expectation = (path: string) => expectationOn(timings[path] ?? [], branch, MAIN);
  const lookup = {
    branch,
    defaultBranch: MAIN,
    each: (report: (file: number, expected: BranchExpectation) => void) =>
      list.strings().forEach((path, file) => {
        const known = expectation(path);
        if (known) report(file, known);
      }),
    expectation,
    cases: (file: string, limit: number) =>
      Object.keys(timings)
        .filter(path => path.startsWith(`${file}[`))
        .slice(0, limit)
        .map(path => timings[path]!),
  };
  return measuredTimes(list, lookup, mostCases);
}

describe('the time of a file that only its test cases tell', () => {
  const secondsOn = (branch: number, timings: Record<string, BranchTimings>) => timesOn(branch, timings, ['a']).seconds[0];

  it('adds up the cases on the branch, and on the default branch the cases that the branch did not run', () => {
    const timings = { 'a[1]': [timing(1)], 'a[2]': [timing(5, FEATURE), timing(1)], 'a[3]': [timing(1)] };
    expect([secondsOn(FEATURE, timings), secondsOn(MAIN, timings), secondsOn(NEW, timings)]).toEqual([7, 3, 3]);
  });

  it('adds up the cases on another branch if neither the branch nor the default branch ran any', () => {
    const timings = { 'a[1]': [timing(10, FEATURE)], 'a[2]': [timing(5, FEATURE)] };
    expect([secondsOn(NEW, timings), secondsOn(MAIN, timings)]).toEqual([15, 15]);
    const alsoOnMain = { ...timings, 'a[3]': [timing(1)] };
    expect([secondsOn(NEW, alsoOnMain), secondsOn(MAIN, alsoOnMain)]).toEqual([1, 1]);
  });

  it('leaves out cases that were measured long before the last case', () => {
    const age = limits.staleTestCaseMilliseconds;
    const timings = { 'a[1]': [timing(1, MAIN, age)], 'a[2]': [timing(2)], 'a[3]': [timing(4, MAIN, -1)] };
    expect(secondsOn(MAIN, timings)).toBe(3);
  });

  it('is NaN when the file or the project has no test cases', () => {
    expect(secondsOn(MAIN, {})).toBeNaN();
    const lookup = { branch: MAIN, defaultBranch: MAIN, each: () => {}, expectation: () => undefined, cases: null };
    expect(measuredTimes(suiteOf(['a']), lookup, 10)).toEqual({
      seconds: Float64Array.of(NaN),
      files: new Map(),
      basis: emptyBasis(1),
      isComplete: true,
    });
  });

  it('is added up of so many test cases in all', () => {
    const timings = { 'a[1]': [timing(1)], 'a[2]': [timing(1)], 'b[1]': [timing(1)], 'b[2]': [timing(1)], 'c[1]': [timing(1)] };
    expect(timesOn(MAIN, timings, ['a', 'b', 'c'], 3)).toMatchObject({ seconds: Float64Array.of(2, 1, NaN), isComplete: false });
    expect(timesOn(MAIN, timings, ['a', 'b', 'c'], 6)).toMatchObject({ seconds: Float64Array.of(2, 2, 1), isComplete: true });
  });
});

it('the basis of the time that the test cases of a file tell is the one that was measured least often', () => {
  const often = { ...timing(3), before: { log: Math.log(3), variance: 0.01, drift: 0.01, residual: 0, at: 0, builds: 8 } };
  const { basis } = timesOn(MAIN, { a: [often], 'b[1]': [often], 'b[2]': [often], 'b[3]': [timing(3)] }, ['a', 'b']);
  const [steady, sum] = [fileBasis(basis, 0), fileBasis(basis, 1)];
  expect(steady).toMatchObject({ source: 'branch', count: 9 });
  expect(sum).toMatchObject({ source: 'cases', count: 1 });
  // The errors of two cases cancel in part.
  expect(sum.spread).toBeGreaterThan(1);
  expect(sum.spread).toBeLessThan(steady.spread!);
});
