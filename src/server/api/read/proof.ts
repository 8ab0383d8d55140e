import typia from 'typia';
import type { ProofQuery } from '../../../protocol/messages/proof.js';
import { reader } from './validation.js';

export const toProofQuery = reader(typia.misc.literals<keyof ProofQuery>(), typia.createValidate<ProofQuery>(), {
  isForm: true,
  complete(parameters) {
    parameters.proof_keys ??= '';
    parameters.flaky_passes ??= false;
  },
});
