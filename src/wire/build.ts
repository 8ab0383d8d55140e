import typia, { type tags } from 'typia';
import type { NodeKey } from './build-key.js';
import { nodeIndexInTotal } from './build-subset.js';
import { coerce, type Sent } from './coerce.js';
import { accept } from './complaint.js';
import type { NodeTotal, OptionalText } from './text.js';

/** A build in answers; times are ISO 8601 in UTC with milliseconds. */
export interface BuildAnswer {
  id: string;
  commit_hash: string;
  branch: string;
  node_total: number;
  created_at: string;
  updated_at: string;
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

export function toBuildsQuery(sent: Sent): BuildsQuery {
  const parameters = coerce(sent, buildsQueryNames);
  parameters['page'] ??= 1;
  // A form sends its empty fields too: they do not filter.
  for (const [name, value] of Object.entries(parameters)) if (value === '' && name !== 'page') delete parameters[name];
  return accept(validateBuildsQuery(parameters));
}

const nodeKeyNames = typia.misc.literals<keyof NodeKey>();
const validateNodeKey = typia.createValidate<NodeKey>();

/** Query of GET /build_distributions/last */
export function toNodeKey(sent: Sent): NodeKey {
  return accept(validateNodeKey(coerce(sent, nodeKeyNames)), nodeIndexInTotal);
}
