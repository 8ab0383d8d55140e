import type { ProofAnswer } from '../../../protocol/answers/proof.js';
import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { get } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { decodeQuery, json } from '../json.js';
import { buildPageUrl } from '../links.js';
import { response } from '../openapi/responses.js';
import { toProofQuery } from '../read/proof.js';

async function proofOfTree(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, now } = context;
  const asker = await askerOf(context, request);
  const { request_id = null, ...asked } = toProofQuery(decodeQuery(request.query));
  const owner = await store.access.project(asker.project);
  // It was deleted meanwhile.
  if (!owner) throw apiErrors.tokenInvalid();
  const question = {
    project: asker.project,
    tree: asked.tree,
    listDigest: asked.test_files_digest,
    keys: asked.proof_keys === '' ? [] : asked.proof_keys.split(',').sort(),
    since: now() - 1000 * asked.max_age,
    flakyPasses: asked.flaky_passes,
  };
  const { proof } = await jobs.read('proof', question, asker);
  const pageOf = (id: string) => buildPageUrl(context, request, owner.name, id, {});
  const ci_run = proof.ci_run && { ...proof.ci_run, url: pageOf(proof.ci_run.ci_run_id) };
  return json(200, { about: { project: owner.name, ...asked, request_id }, ...proof, ci_run } satisfies ProofAnswer);
}

export const proofs = get('/v1/proofs', proofOfTree, {
  operationId: 'findProof',
  tag: 'Builds',
  summary: 'Ask whether all test files of a list are known to pass in an exact tree.',
  description: 'For the first step of a CI run. Any doubt is an answer that they are not.',
  query: 'ProofQuery',
  responses: {
    '200': response('Whether it is proved, and by which CI run, or the first thing that speaks against it.', { schemas: ['ProofAnswer'] }),
  },
});
