import typia from 'typia';
import type { CompletenessQuery } from '../../../protocol/messages/completeness.js';
import { PARAMETER_REQUIRED, reader } from './validation.js';

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
