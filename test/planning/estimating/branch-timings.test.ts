import { describe, expect, it } from 'vitest';
import { type BranchTiming, measureOn, timingOn } from '../../../src/planning/estimating/branch-timings.js';
import { estimateOf } from '../../../src/planning/estimating/timing.js';

const [MAIN, FEATURE, OTHER, NEW] = [1, 2, 3, 4] as const;

/** The timings after builds, each with its branch and its seconds. The default branch is main. */
const timingsAfter = (...builds: (readonly [branch: number, seconds: number])[]) =>
  builds.reduce<BranchTiming[]>(
    (timings, [branch, seconds], i) =>
      measureOn(timings, branch, MAIN, { build: i + 1, seconds, at: 1000 * i, began: 1000 * i, run: 'first' })!,
    [],
  );
const estimateOn = (timings: readonly BranchTiming[], branch: number) => {
  const timing = timingOn(timings, branch, MAIN);
  return timing && estimateOf(timing);
};

describe('the timing on a branch', () => {
  it('follows its own builds only', () => {
    const timings = timingsAfter([MAIN, 10], [FEATURE, 20], [MAIN, 10], [FEATURE, 20], [MAIN, 10]);
    expect(estimateOn(timings, MAIN)).toBeCloseTo(10, 3);
    expect(estimateOn(timings, FEATURE)).toBeCloseTo(20, 3);
  });

  it('is kept for the default branch and the latest branches', () => {
    const branches = Array.from({ length: 40 }, (_, i) => i + 10);
    const timings = timingsAfter([MAIN, 10], ...branches.map(branch => [branch, branch] as const));
    expect(timings.map(({ branch }) => branch)).toEqual([...branches.slice(-7).reverse(), MAIN, null]);
    expect(estimateOn(timings, MAIN)).toBe(10);
    expect(estimateOn(timings, branches.at(-1)!)).toBe(branches.at(-1));
    expect(estimateOn(timings, branches[0]!)).toBe(10);
  });

  it('of all branches ignores a retry of an older build', () => {
    const timings = timingsAfter([FEATURE, 20], [OTHER, 30]);
    const late = { build: 1, seconds: 500, at: 9000, began: 0, run: 'retried' as const };
    const after = measureOn(timings, FEATURE, MAIN, late)!;
    expect(estimateOn(after, NEW)).toBe(estimateOn(timings, NEW));
    expect(estimateOn(after, FEATURE)).toBe(260);
  });
});
