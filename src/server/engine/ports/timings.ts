import type { Soon } from '../../../base/soon.js';
import type { BranchTimings } from '../../planning/estimating/branch-timings.js';
import type { LookedUpTimes } from '../../planning/estimating/measured-times.js';
import type { Suite } from '../suites/suite.js';
import type { Millis } from './store.js';

/** The measured durations of test files. */
export interface Timings {
  /**
   * The times of the paths on the branch, else on the default branch, else on any, in the order of the list. They include every run whose
   * recording resolved before. The times of at most `mostCases` test cases are added up.
   */
  estimates(project: number, branch: string, list: Suite, mostCases: number): Soon<LookedUpTimes>;
  /** The times of paths on the branch likewise, in seconds, by the numbers of the paths; NaN: a path was never measured. */
  ofPaths(project: number, branch: string, numbers: Uint32Array): Soon<Float64Array>;
  /** The seconds of the current test cases of a file, in the order of their keys, at most `TEST_CASES_PER_FILE`; empty: none was measured. */
  cases(project: number, branch: string, file: string): Soon<number[]>;
  /** Those of some files that were measured on the branch, whole, in pieces or by their test cases. */
  measuredOn(project: number, branch: string, files: readonly string[]): Soon<Set<string>>;
  /** Up to `limit` paths of all projects whose numbers are at least `from`, in the order of their numbers. */
  all(from: number, limit: number): Soon<RecordedPath[]>;
}

/** A path that was recorded, with its times. */
export interface RecordedPath {
  /** The number of the path in the store. */
  number: number;
  project: number;
  path: string;
  /** Approximately when it was last recorded, measured or not. */
  seen_at: Millis;
  /** Empty: it was never measured. */
  timings: BranchTimings;
}
