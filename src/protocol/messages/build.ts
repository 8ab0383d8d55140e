import type { tags } from 'typia';
import type { Count, Timestamp, Uuid } from '../scalars.js';
import type { NodeKey, NodeTotal, OptionalText, RecordedTestFile, TestFileList } from './parameters.js';

/** A build, without its recorded runs. */
export interface BuildAnswer {
  id: Uuid;
  commit_hash: string;
  branch: string;
  node_total: Count;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** A build with its known CI runs, at most 100, and all recorded runs; both newest first. */
export interface BuildDetail extends BuildAnswer {
  ci_runs: NamedCiRun[];
  build_subsets: BuildSubset[];
}

/** A queue, or a use of a split. */
export interface NamedCiRun {
  ci_run_id: Uuid;
  /** The id that the CI system gave it, cut to 200 characters. */
  ci_run: string;
  kind: 'queue' | 'split';
  created_at: Timestamp;
}

/** One recorded run of a node. */
export interface BuildSubset {
  id: Uuid;
  node_index: Count;
  created_at: Timestamp;
  updated_at: Timestamp;
  test_files: RecordedTestFile[];
}

/** One page of builds, newest first. */
export interface BuildsPage {
  meta: {
    records_per_page: Count;
    total_pages: Count;
    prev_page: Count | null;
    current_page: Count;
    next_page: Count | null;
    is_first_page: boolean;
    is_last_page: boolean;
    is_page_out_of_range: boolean;
  };
  /** Absolute URLs with the filters of the request. */
  links: { first: string | null; prev: string | null; self: string | null; next: string | null; last: string | null };
  data: BuildAnswer[];
}

/** Query of GET /builds */
export interface BuildsQuery {
  /** Default: 1. */
  page: number & tags.Type<'int64'> & tags.Minimum<1>;
  commit_hash?: OptionalText;
  branch?: OptionalText;
  node_total?: NodeTotal;
}

/** POST /build_subsets */
export interface BuildSubsetMessage extends NodeKey {
  test_files: TestFileList<RecordedTestFile>;
  /**
   * Id of the CI run, as sent for its split (ci_build_id) or queue (node_build_id, test_queue_id). The recorded run then counts only for
   * the completeness of that CI run.
   */
  ci_build_id?: OptionalText;
  /** The client tells the outcome of each file: one without an `outcome` passed. Default: false. */
  tells_outcomes?: boolean;
}
