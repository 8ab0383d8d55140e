import type { ProofAnswer, ReceiptKeysAnswer } from '../../../protocol/answers/proof.js';
import { limits } from '../../../protocol/limits.js';
import { publicReceiptKeys, signingKey } from '../../engine/proof/receipt-keys.js';
import type { AskingCiRun } from '../../engine/proof/spared.js';
import { isPublicSide } from '../../engine/public-side/side.js';
import { Refusal, refusals } from '../../engine/refusal.js';
import type { Answer, Request } from '../../http/request.js';
import { findSubject } from '../../insight/subject.js';
import { askerOf } from '../authentication/authenticate.js';
import type { Context } from '../context.js';
import { get, getOfBuild, plainGet } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import type { Asker } from '../job-runner.js';
import { decodeQuery, json } from '../json.js';
import { buildPageUrl } from '../links.js';
import { mergeResponses, response } from '../openapi/responses.js';
import { toProofQuery } from '../read/proof.js';
import { toCiRunQuery } from '../read/queries.js';

/** Who asks about CI runs that prove something. Throws a 422 for the public side of a project: of a run with a public token nobody knows who ran it. */
async function askerOfProof(context: Context, request: Request): Promise<Asker> {
  const asker = await askerOf(context, request);
  if (isPublicSide(asker.project)) throw new Refusal('a CI run with a public token proves nothing: anyone may have recorded it');
  return asker;
}

async function proofOfTree(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, metrics, now } = context;
  const asker = await askerOfProof(context, request);
  const { request_id = null, commit_hash = null, branch = null, ci_run: id = null, ...asked } = toProofQuery(decodeQuery(request.query));
  const owner = await store.access.project(asker.project);
  // It was deleted meanwhile.
  if (!owner) throw apiErrors.tokenInvalid();
  const asking = commit_hash === null || branch === null || id === null ? null : { commit_hash, branch, ci_run: id };
  const question = {
    project: asker.project,
    tree: asked.tree,
    listDigest: asked.test_files_digest,
    keys: asked.proof_keys === '' ? [] : asked.proof_keys.split(',').sort(),
    since: now() - 1000 * asked.max_age,
    flakyPasses: asked.flaky_passes,
    asking,
  };
  const { proof, isSpared } = await jobs.read('proof', question, asker);
  metrics.countProof(proof.is_proved);
  if (isSpared) {
    const { ci_run_id, node_seconds } = proof.ci_run!;
    await noteSpared(context, asker.project, ci_run_id, { ...asking!, seconds: node_seconds! });
  }
  const pageOf = (id: string) => buildPageUrl(context, request, owner.name, id, {});
  const ci_run = proof.ci_run && { ...proof.ci_run, url: pageOf(proof.ci_run.ci_run_id) };
  const about = { project: owner.name, ...asked, commit_hash, branch, ci_run: id, request_id };
  return json(200, { about, ...proof, ci_run } satisfies ProofAnswer);
}

/**
 * Notes what the proof of a CI run saves another one. A failure is only logged: the answer is right without the note.
 *
 * @param by the id of the one that proves
 */
export async function noteSpared(
  { store, dailyBytes, log, now }: Pick<Context, 'store' | 'dailyBytes' | 'log' | 'now'>,
  project: number,
  by: string,
  { commit_hash, branch, ci_run, seconds }: AskingCiRun & { seconds: number },
): Promise<void> {
  const spared = { commit_hash, branch, ci_run: ci_run.slice(0, limits.ciRunCharacters), asked_at: now(), seconds };
  try {
    const proving = await store.ciRuns.get(project, by);
    if (proving && (await store.ciRuns.noteSpared(proving, spared))) dailyBytes.add(project, JSON.stringify(spared).length, now());
  } catch (err) {
    log.warn({ err }, 'could not note a CI run that need not run its tests');
  }
}

async function receiptOfBuild(context: Context, request: Request, id: string): Promise<Answer> {
  const { store, jobs } = context;
  const asker = await askerOfProof(context, request);
  const { ci_run } = toCiRunQuery(decodeQuery(request.query));
  const { ciRun } = await findSubject(store, asker.project, id, ci_run);
  const owner = await store.access.project(asker.project);
  if (!ciRun || !owner) throw refusals.buildNotFound();
  const url = buildPageUrl(context, request, owner.name, ciRun.id, {});
  const privateKey = await signingKey(store.values, context.receiptKey);
  const { json: body } = await jobs.read('receipt', { ciRun, url, privateKey }, asker);
  return { status: 200, body };
}

async function keysOfReceipts(context: Context, request: Request): Promise<Answer> {
  await askerOf(context, request);
  return json(200, { public_keys: await publicReceiptKeys(context.store.values, context.receiptKey) } satisfies ReceiptKeysAnswer);
}

const findProof = get('/v1/proofs', proofOfTree, {
  operationId: 'findProof',
  tag: 'Builds',
  summary: 'Ask whether all test files of a list are known to pass in an exact tree.',
  description: 'For the first step of a CI run. Any doubt is an answer that they are not.',
  query: 'ProofQuery',
  responses: {
    '200': response('Whether it is proved, and by which CI run, or the first thing that speaks against it.', { schemas: ['ProofAnswer'] }),
  },
});

const readReceipt = getOfBuild('/v1/builds/:id/receipt', receiptOfBuild, {
  operationId: 'readReceipt',
  tag: 'Builds',
  summary: 'Get a signed receipt of how each test file of a CI run ended.',
  description:
    'An in-toto statement in a DSSE envelope. The gate must call the CI run complete, and its clients tell outcomes and one tree.',
  query: 'CiRunQuery',
  responses: { '200': response('The receipt.', { schemas: ['Envelope'] }), ...mergeResponses },
});

const readReceiptKeys = plainGet('/v1/receipt_keys', keysOfReceipts, {
  operationId: 'readReceiptKeys',
  tag: 'Builds',
  summary: 'Get the public keys that check receipts.',
  description: 'First the one that signs now, then those before.',
  responses: { '200': response('The keys.', { schemas: ['ReceiptKeysAnswer'] }) },
});

export const proofs = [findProof, readReceipt, readReceiptKeys];
