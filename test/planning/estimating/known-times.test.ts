import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/limits.js';
import type { BranchTiming, BranchTimings } from '../../../src/planning/estimating/branch-timings.js';
import { timingOn } from '../../../src/planning/estimating/branch-timings.js';
import { knownTimes } from '../../../src/planning/estimating/known-times.js';

const [MAIN, FEATURE, NEW] = [1, 2, 3];

/** A timing of one build. */
const timing = (seconds: number, branch = MAIN, at = 0): BranchTiming => ({ branch, before: null, build: 1, times: [seconds], at });

/** The times of paths as a branch finds them, with MAIN as the default branch. */
function timesOn(branch: number, timings: Record<string, BranchTimings>, paths: readonly string[], mostCases = 100) {
  const lookup = {
    branch,
    defaultBranch: MAIN,
    timing: (path: string) => timingOn(timings[path] ?? [], branch, MAIN),
    cases: (file: string, limit: number) =>
      Object.keys(timings)
        .filter(path => path.startsWith(`${file}[`))
        .slice(0, limit)
        .map(path => timings[path]!),
  };
  return knownTimes(paths, lookup, mostCases);
}

describe('the time of a file that only its test cases tell', () => {
  const secondsOn = (branch: number, timings: Record<string, BranchTimings>) => timesOn(branch, timings, ['a']).seconds[0];

  it('is theirs on the branch, and of those that it did not run, on the default branch', () => {
    const timings = { 'a[1]': [timing(1)], 'a[2]': [timing(5, FEATURE), timing(1)], 'a[3]': [timing(1)] };
    expect([secondsOn(FEATURE, timings), secondsOn(MAIN, timings), secondsOn(NEW, timings)]).toEqual([7, 3, 3]);
  });

  it('is theirs on any other branch where neither of both ran them', () => {
    const timings = { 'a[1]': [timing(10, FEATURE)], 'a[2]': [timing(5, FEATURE)] };
    expect([secondsOn(NEW, timings), secondsOn(MAIN, timings)]).toEqual([15, 15]);
    const alsoOnMain = { ...timings, 'a[3]': [timing(1)] };
    expect([secondsOn(NEW, alsoOnMain), secondsOn(MAIN, alsoOnMain)]).toEqual([1, 1]);
  });

  it('leaves out those that were measured long before the last one', () => {
    const age = limits.staleTestCaseMilliseconds;
    const timings = { 'a[1]': [timing(1, MAIN, age)], 'a[2]': [timing(2)], 'a[3]': [timing(4, MAIN, -1)] };
    expect(secondsOn(MAIN, timings)).toBe(3);
  });

  it('is unknown when there are none, or the project has no test cases', () => {
    expect(secondsOn(MAIN, {})).toBeNaN();
    const lookup = { branch: MAIN, defaultBranch: MAIN, timing: () => undefined, cases: null };
    expect(knownTimes(['a'], lookup, 10)).toEqual({ seconds: Float64Array.of(NaN), files: new Map(), isComplete: true });
  });

  it('is added up of so many test cases in all', () => {
    const timings = { 'a[1]': [timing(1)], 'a[2]': [timing(1)], 'b[1]': [timing(1)], 'b[2]': [timing(1)], 'c[1]': [timing(1)] };
    expect(timesOn(MAIN, timings, ['a', 'b', 'c'], 3)).toMatchObject({ seconds: Float64Array.of(2, 1, NaN), isComplete: false });
    expect(timesOn(MAIN, timings, ['a', 'b', 'c'], 6)).toMatchObject({ seconds: Float64Array.of(2, 2, 1), isComplete: true });
  });
});

it('the time of a file is known for its test cases that were never measured', () => {
  const timings = { a: [timing(12)], 'a[1]': [timing(3)] };
  const { seconds, files } = timesOn(MAIN, timings, ['a', 'a[1]', 'a[2]', 'b[1]']);
  expect(seconds).toEqual(Float64Array.of(12, 3, NaN, NaN));
  expect(files).toEqual(new Map([['a', 12]]));
});
