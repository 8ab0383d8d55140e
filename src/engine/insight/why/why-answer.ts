import type { Count, Timestamp } from '../../../scalars.js';
import type { Decision } from '../../queue/batch.js';
import type { BuildHead } from '../build-head.js';

/** GET /v1/builds/:id/why: why each node got its files, as it was known then. Durations are seconds. */
export interface WhyAnswer extends BuildHead {
  /** In the order of time, at most 1,000. With node_index or batch in the query, only those. Empty: only recordings are known. */
  batches: BatchReason[];
  /** How many there are, listed or not. */
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

export interface FileReason {
  path: string;
  /** The estimate when the plan was made. */
  estimate: number;
  /** `branch`, `default_branch`, `other_branch`: its own measurements there. `cases`: the sum of its test cases. `file`: a share of its file, or a percentile of the other test cases in it. `directory`, `suite`: a percentile of the files there. `none`: nothing was ever measured. */
  source: 'branch' | 'default_branch' | 'other_branch' | 'cases' | 'file' | 'directory' | 'suite' | 'none';
  /** How many builds had measured it, at most 255; 0 for a guess. */
  count: Count;
  /** The usual deviation by the model of the estimate, as a factor: 1.2 means from 1/1.2 to 1.2 times the estimate; null: unknown. */
  spread: number | null;
  /** What it took then; null: not recorded. */
  seconds: number | null;
}
