import type { Count, Timestamp } from '../text.js';
import type { BuildHead } from './minutes.js';

/** GET /v1/builds/:id/why: why each node got its files, as it was known then. Durations are seconds. */
export interface WhyAnswer extends BuildHead {
  /** In the order of time. With node_index or batch in the query, only those. */
  batches: BatchReason[];
}

export interface BatchReason {
  /** Null: a split. */
  batch: Count | null;
  node_index: Count;
  handed_at: Timestamp;
  /** In one or two sentences. */
  reason: string;
  /** Null: the planner did not size it (a split, a repeat), or an older Ballast handed it out. */
  decision: {
    remaining: number;
    finish_in: number;
    speed: number;
    slowdown: number;
    share: number;
    target: number;
    pull_cost: number;
  } | null;
  /** In the order in which the node was given them; at most 1,000. */
  files: FileReason[];
  file_count: Count;
}

export interface FileReason {
  path: string;
  /** The estimate when the plan was made. */
  estimate: number;
  /** `branch`, `default_branch`, `other_branch`: its own measurements there. `cases`: the sum of its test cases. `file`: a share of its file. `directory`, `suite`: a percentile of other files. `none`: nothing was ever measured. Null: an older Ballast planned it. */
  source: 'branch' | 'default_branch' | 'other_branch' | 'cases' | 'file' | 'directory' | 'suite' | 'none' | null;
  /** How many builds had measured it; 0 for a guess; null: unknown. */
  count: Count | null;
  /** The usual deviation, as a factor: 1.2 means from 1/1.2 to 1.2 times the estimate; null: unknown. */
  spread: number | null;
  /** What it took then; null: not recorded. */
  seconds: number | null;
}
