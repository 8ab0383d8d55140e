import typia from 'typia';
import type { BuildSubsetMessage, BuildsQuery } from '../../../protocol/messages/build.js';
import type { NodeKey } from '../../../protocol/messages/parameters.js';
import { checkNodeIndex, reader } from './validation.js';

export const toBuildsQuery = reader(typia.misc.literals<keyof BuildsQuery>(), typia.createValidate<BuildsQuery>(), {
  isForm: true,
  complete(parameters) {
    parameters.page ??= 1;
  },
});

/** Query of GET /build_distributions/last */
export const toNodeKey = reader(typia.misc.literals<keyof NodeKey>(), typia.createValidate<NodeKey>(), { check: checkNodeIndex });

export const toBuildSubsetMessage = reader(typia.misc.literals<keyof BuildSubsetMessage>(), typia.createValidate<BuildSubsetMessage>(), {
  check: checkNodeIndex,
});
