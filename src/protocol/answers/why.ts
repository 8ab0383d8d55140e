import type { Count, Timestamp } from '../scalars.js';
import type { BuildHead } from './build-head.js';

/** GET /v1/builds/:id/why: why each node got its files, as it was known then. Durations are seconds. */
export interface WhyAnswer extends BuildHead {
  /** In the order of time, at most 1,000. With node_index or batch in the query, only those. Empty: only recordings are known. */
  batches: BatchReason[];
  /** Number of batches, listed or not. */
  batch_count: Count;
}

export interface BatchReason {
  /** Null: a split. */
  batch: Count | null;
  node_index: Count;
  handed_at: Timestamp;
  /** In a few sentences. */
  reason: string;
  /** Null: the planner did not size it (a split, a repeat). */
  decision: Decision | null;
  /** In the order in which the node was given them; at most 1,000, and at most 20,000 of all batches. */
  files: FileReason[];
  file_count: Count;
}

/** Facts and decision of the planner when a batch was handed out. Durations are seconds. */
export interface Decision {
  /** Time that the files left in the queue would take a node of usual speed, those of this batch included. */
  remaining: number;
  /** Until all nodes would finish together, as expected then. */
  finish_in: number;
  /** Of the node relative to the others, as measured until then; 1: usual or unknown. */
  speed: number;
  /** Time that a second of estimates took until then; 1: as estimated, or unknown. */
  slowdown: number;
  /** The work that the node would do until then. */
  share: number;
  /** The work that the batch was to have: a part of the share, or all of it. */
  target: number;
  /** Time that a node loses between two batches, as learned until then. */
  pull_cost: number;
  /** Time that each file took besides the time of its tests, as learned until then. */
  hidden: number;
}

export interface FileReason {
  path: string;
  /** The estimate when the plan was made. */
  estimate: number;
  /** `branch`, `default_branch`, `other_branch`: its own measurements there. `cases`: the sum of its test cases. `file`: a share of its file, or a percentile of the other test cases in it. `directory`, `suite`: a percentile of the files there. `none`: nothing was ever measured. */
  source: 'branch' | 'default_branch' | 'other_branch' | 'cases' | 'file' | 'directory' | 'suite' | 'none';
  /** Number of builds that had measured it, at most 255; 0 for a guess. */
  count: Count;
  /** The usual deviation by the model of the estimate, as a factor: 1.2 means from 1/1.2 to 1.2 times the estimate; null: unknown. */
  spread: number | null;
  /** Seconds that it took then; null: not recorded. */
  seconds: number | null;
}
