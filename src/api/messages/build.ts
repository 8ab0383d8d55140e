import typia, { type tags } from 'typia';
import type { NodeKey } from './build-key.js';
import { checkNodeIndex } from './build-subset.js';
import { coerce, type RawParameters } from './coerce.js';
import type { RecordedTestFile } from './test-file.js';
import type { Count, NodeTotal, OptionalText, Timestamp, Uuid } from './text.js';
import { requireValid } from './validation.js';

/** A build in answers. */
export interface BuildAnswer {
  id: Uuid;
  commit_hash: string;
  branch: string;
  node_total: Count;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** GET /builds/:id: with all recorded runs, newest first. */
export interface BuildDetail extends BuildAnswer {
  build_subsets: BuildSubset[];
}

/** What a node ran and recorded at once. */
export interface BuildSubset {
  id: Uuid;
  node_index: Count;
  created_at: Timestamp;
  updated_at: Timestamp;
  test_files: RecordedTestFile[];
}

/** GET /builds */
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
  /** Absolute, with the filters of the request. */
  links: { first: string | null; prev: string | null; self: string | null; next: string | null; last: string | null };
  data: BuildAnswer[];
}

/** Query of GET /builds */
export interface BuildsQuery {
  page: number & tags.Type<'int64'> & tags.Minimum<1>;
  commit_hash?: OptionalText;
  branch?: OptionalText;
  node_total?: NodeTotal;
}

const buildsQueryNames = typia.misc.literals<keyof BuildsQuery>();
const validateBuildsQuery = typia.createValidate<BuildsQuery>();

export function toBuildsQuery(sent: RawParameters): BuildsQuery {
  const parameters = coerce(sent, buildsQueryNames);
  parameters.page ??= 1;
  // A form sends its empty fields too: they do not filter.
  for (const [name, value] of Object.entries(parameters)) if (value === '' && name !== 'page') delete parameters[name];
  return requireValid(validateBuildsQuery(parameters));
}

const nodeKeyNames = typia.misc.literals<keyof NodeKey>();
const validateNodeKey = typia.createValidate<NodeKey>();

/** Query of GET /build_distributions/last */
export function toNodeKey(sent: RawParameters): NodeKey {
  return requireValid(validateNodeKey(coerce(sent, nodeKeyNames)), checkNodeIndex);
}
