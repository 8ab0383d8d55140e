import { type Measurement, measure, type Timing } from './timing.js';

/** What is known of the time of one path on one branch. */
export interface BranchTiming extends Timing {
  /** A number for the name; null: on all branches, kept from the second branch on. */
  branch: number | null;
}

/** Of one path; the branch that measured it last comes first. */
export type BranchTimings = readonly BranchTiming[];

/** Beyond so many branches a new one displaces that which measured the path the longest ago, not the default branch. */
const BRANCHES_KEPT = 8;

/** The timing on the branch; else on the default branch; else on all. */
export function timingOn(timings: BranchTimings, branch: number, defaultBranch: number | null): BranchTiming | undefined {
  return find(timings, branch) ?? elsewhere(timings, defaultBranch);
}

/** The timings after a measurement on the branch; null: they stay as they are (see `measure`). */
export function measureOn(
  timings: BranchTimings,
  branch: number,
  defaultBranch: number | null,
  measurement: Measurement,
): BranchTiming[] | null {
  const known = find(timings, branch);
  const timing = measure(known, measurement, known ? undefined : elsewhere(timings, defaultBranch));
  if (!timing) return null;
  const own = onBranch(branch, timing);
  if (timings.length === 0 || (known && timings.length === 1)) return [own];
  const others = timings.filter(({ branch: of }) => of !== branch && of !== null);
  while (others.length >= BRANCHES_KEPT)
    others.splice(
      others.findLastIndex(of => of.branch !== defaultBranch),
      1,
    );
  const all = find(timings, null) ?? others[0]!;
  others.unshift(own);
  others.push(onBranch(null, measure(all, measurement) ?? all));
  return others;
}

function onBranch(branch: number | null, { before, build, times, at }: Timing): BranchTiming {
  // Field by field: a spread takes longer than all of the measuring.
  return { branch, before, build, times, at };
}

function elsewhere(timings: BranchTimings, defaultBranch: number | null): BranchTiming | undefined {
  return (defaultBranch !== null ? find(timings, defaultBranch) : undefined) ?? find(timings, null) ?? timings[0];
}

function find(timings: BranchTimings, branch: number | null): BranchTiming | undefined {
  return timings.find(of => of.branch === branch);
}
