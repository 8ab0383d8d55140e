import type { tags } from 'typia';
import type { limits } from '../limits.js';
import type { Text } from '../scalars.js';
import type { BuildKey, NodeTotal } from './parameters.js';

/** Query of GET /builds/completeness */
export interface CompletenessQuery extends Omit<BuildKey, 'node_total'> {
  /** Missing: every build of this commit and branch that the named CI run has. */
  node_total?: NodeTotal;
  /** Id of the queue. Without any id, the newest queue or fixed split of the build counts. */
  node_build_id?: Text;
  /** The same as node_build_id, for newer clients. */
  test_queue_id?: Text;
  /** The split with this id, or else the fixed split. */
  ci_build_id?: Text;
  /** A file that was recorded with a time of 0 only counts as run. */
  allow_empty: boolean;
  /** The answer repeats it, so that a client recognizes the answer to its request. */
  request_id?: Text;
  /** Seconds to wait for an incomplete build. Default: 0. */
  wait: number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<typeof limits.completenessWaitSeconds>;
}
