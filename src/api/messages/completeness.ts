import typia, { type tags } from 'typia';
import type { limits } from '../../limits.js';
import type { Text } from '../../scalars.js';
import type { BuildKey, NodeTotal } from './parameters.js';
import { PARAMETER_REQUIRED, reader } from './validation.js';

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

export const toCompletenessQuery = reader(typia.misc.literals<keyof CompletenessQuery>(), typia.createValidate<CompletenessQuery>(), {
  complete(parameters) {
    parameters.wait ??= 0;
    parameters.allow_empty ??= false;
    // A CI step may send the ids that its system does not have as empty strings.
    for (const name of ['node_build_id', 'test_queue_id', 'ci_build_id']) if (parameters[name] === '') delete parameters[name];
    parameters.node_build_id ??= parameters.test_queue_id;
    delete parameters.test_queue_id;
  },
  check({ node_build_id, ci_build_id, node_total }) {
    if (node_build_id !== undefined && ci_build_id !== undefined) return { ci_build_id: ['must not be sent together with node_build_id'] };
    return (node_build_id ?? ci_build_id ?? node_total) === undefined ? { node_total: [PARAMETER_REQUIRED] } : {};
  },
});
