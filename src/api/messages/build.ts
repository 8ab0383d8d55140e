import typia, { type tags } from 'typia';
import type { Count, Timestamp, Uuid } from '../../scalars.js';
import type { NodeKey, NodeTotal, OptionalText, RecordedTestFile, TestFileList } from './parameters.js';
import { checkNodeIndex, reader } from './validation.js';

/** A build, without its recorded runs. */
export interface BuildAnswer {
  id: Uuid;
  commit_hash: string;
  branch: string;
  node_total: Count;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** A build with all recorded runs, newest first. */
export interface BuildDetail extends BuildAnswer {
  build_subsets: BuildSubset[];
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

export const toBuildsQuery = reader(typia.misc.literals<keyof BuildsQuery>(), typia.createValidate<BuildsQuery>(), {
  complete(parameters) {
    parameters.page ??= 1;
    // A form also sends its empty fields, which do not filter.
    for (const [name, value] of Object.entries(parameters)) if (value === '' && name !== 'page') delete parameters[name];
  },
});

/** Query of GET /build_distributions/last */
export const toNodeKey = reader(typia.misc.literals<keyof NodeKey>(), typia.createValidate<NodeKey>(), { check: checkNodeIndex });

/** POST /build_subsets */
export interface BuildSubsetMessage extends NodeKey {
  test_files: TestFileList<RecordedTestFile>;
  /**
   * Id of the CI run, as sent for its split (ci_build_id) or queue (node_build_id, test_queue_id). The recorded run then counts only for
   * the completeness of that CI run.
   */
  ci_build_id?: OptionalText;
}

export const toBuildSubsetMessage = reader(typia.misc.literals<keyof BuildSubsetMessage>(), typia.createValidate<BuildSubsetMessage>(), {
  check: checkNodeIndex,
});
