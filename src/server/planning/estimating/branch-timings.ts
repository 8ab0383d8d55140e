import { type Expectation, expectationOf, type Measurement, measure, type Timing } from './timing.js';

/** The record of the durations of a path on a branch. */
export interface BranchTiming extends Timing {
  /** A number for the name; null: all branches together, kept once there are two. */
  branch: number | null;
}

/** The timings of one path. The branch that measured it last comes first. */
export type BranchTimings = readonly BranchTiming[];

/** Beyond this number, a new branch replaces the one that has not measured the path for the longest time, except the default branch. */
const MAX_BRANCHES = 8;

/** Returns the timing on the branch, else on the default branch, else on all branches. */
export function timingOn(timings: BranchTimings, branch: number, defaultBranch: number | null): BranchTiming | undefined {
  return find(timings, branch) ?? elsewhere(timings, defaultBranch);
}

/** The forecast of the timing on a branch for the next build. */
export interface BranchExpectation extends Expectation {
  /** As in BranchTiming. */
  branch: number | null;
}

/** The forecast of the timing that `timingOn` finds. */
export function expectationOn(timings: BranchTimings, branch: number, defaultBranch: number | null): BranchExpectation | undefined {
  const timing = timingOn(timings, branch, defaultBranch);
  return timing && { branch: timing.branch, ...expectationOf(timing) };
}

/** Returns the timings after a measurement on the branch; null: the measurement does not count (see `measure`). */
export function measureOn(
  timings: BranchTimings,
  branch: number,
  defaultBranch: number | null,
  measurement: Measurement,
): BranchTiming[] | null {
  const before = find(timings, branch);
  const after = measure(before, measurement, before ? undefined : elsewhere(timings, defaultBranch));
  if (!after) return null;
  const first = onBranch(branch, after);
  if (timings.length === 0 || (before && timings.length === 1)) return [first];
  const others = timings.filter(timing => timing.branch !== branch && timing.branch !== null);
  while (others.length >= MAX_BRANCHES) {
    const oldest = others.findLastIndex(timing => timing.branch !== defaultBranch);
    others.splice(oldest, 1);
  }
  const allBranches = find(timings, null) ?? others[0]!;
  others.unshift(first);
  others.push(onBranch(null, measure(allBranches, measurement) ?? allBranches));
  return others;
}

function onBranch(branch: number | null, { before, build, times, at }: Timing): BranchTiming {
  // Field by field: a spread takes longer than the whole measurement.
  return { branch, before, build, times, at };
}

function elsewhere(timings: BranchTimings, defaultBranch: number | null): BranchTiming | undefined {
  return (defaultBranch !== null ? find(timings, defaultBranch) : undefined) ?? find(timings, null) ?? timings[0];
}

function find(timings: BranchTimings, branch: number | null): BranchTiming | undefined {
  return timings.find(timing => timing.branch === branch);
}
