import type { Segments } from '../../../base/bytes.js';
import type { Saving, Soon } from '../../../base/soon.js';
import type { Caller } from '../caller.js';
import type { NodeKey } from '../keys.js';
import type { Millis } from './store.js';

export interface Recordings {
  /**
   * Records a run of a node, and creates its build with the first one. Once a run that is 'recorded' is saved, its times count for every
   * estimate. See recordings.ts for the runs that are refused or already recorded.
   *
   * A client that has left may have repeated the request at another process: then the repetition is the run, also if it was recorded first.
   */
  record(project: number, key: NodeKey, run: NewRun, caller: Caller, at: Millis): Soon<Saving<Recorded>>;
}

/** `already recorded`: the request repeats an earlier one, and its run is recorded. */
export type Recorded = 'recorded' | 'already recorded' | 'retried too often';

export interface NewRun {
  /** Segments if they come from a worker thread. */
  paths: readonly string[] | Segments;
  /** By path; 0: the file was scheduled, not measured; see also UNTIMED. */
  seconds: ArrayLike<number>;
  /** By path, see outcomeOf in test-file.ts; null: the client tells none. */
  outcomes: ArrayLike<number> | null;
  /** True if a measured path is a test case inside a file. */
  hasTestCases: boolean;
  /** See RunHead. */
  has_no_test: boolean;
  /** See RunHead. */
  ci_run: number;
  asked_at: Millis | null;
}
