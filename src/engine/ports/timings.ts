import type { BranchTimings } from '../../planning/estimating/branch-timings.js';
import type { LookedUpTimes } from '../../planning/estimating/known-times.js';
import type { Millis, Soon } from './store.js';

/** What is known of how long test files take. */
export interface Timings {
  /**
   * What is known of the paths on the branch, else on the default branch, else on any. It includes every run whose recording
   * resolved before. Of at most `mostCases` test cases the times are added up.
   */
  estimates(project: number, branch: string, paths: readonly string[], mostCases: number): Soon<LookedUpTimes>;
  /** Up to `limit` paths of all projects whose numbers are at least `from`, in the order of their numbers. */
  list(from: number, limit: number): Soon<KnownPath[]>;
}

export interface KnownPath {
  /** What the store calls the path. */
  number: number;
  project: number;
  path: string;
  /** About when it was recorded last, measured or not. */
  seen_at: Millis;
  /** Empty: it was never measured. */
  timings: BranchTimings;
}
