import { ApiError } from '../api-error.js';
import { projectOfToken } from '../engine/access.js';
import type { Request } from '../http/request.js';
import { limits } from '../limits.js';
import { type Posts, posts } from '../workers/jobs.js';
import type { Prepared } from '../workers/task.js';
import { authenticate } from './authenticate.js';
import type { Context } from './context.js';
import type { RawParameters } from './messages/coerce.js';
import { decodeBody, guessToken, tokenInBody } from './messages/decode.js';

/**
 * Authenticates and validates a POST, and plans what it asks for. A worker thread does this when the body or the list of test files is
 * large, else this thread. Throws the error of an invalid request.
 */
export function prepare<K extends keyof Posts>(context: Context, job: K, request: Request): Promise<Prepared<K>> {
  const [first] = request.body as [Uint8Array];
  const isSmall = request.body.length === 1 && first.length < limits.pooledBodyBytes;
  return isSmall ? prepareSmall(context, job, request, first) : prepareLarge(context, job, request);
}

async function prepareSmall<K extends keyof Posts>(context: Context, job: K, request: Request, body: Uint8Array): Promise<Prepared<K>> {
  const { store, workers, tokenHeader, pullCost } = context;
  // The body is valid only until the first await, so it is decoded now, and copied if a worker thread may need it.
  const sent = decode(body);
  const files = sent instanceof ApiError ? 0 : countFiles(sent);
  const isLong = files >= limits.pooledTestFiles;
  const mayNeedWorker = job === 'preparePlan' || (files > 0 && job !== 'prepareSubset');
  const copy = isLong || mayNeedWorker ? new Uint8Array(body) : null;

  if (request.token === null && sent instanceof ApiError) throw sent;
  const token = request.token ?? tokenInBody(sent as RawParameters);
  // Every pull and recording comes along here, and nearly always without a wait.
  const owner = authenticate(store.access, token, tokenHeader);
  const project = owner instanceof Promise ? await owner : owner;
  if (sent instanceof ApiError) throw sent;
  const made = isLong ? null : posts[job](store, sent, project, { pullCost, isWorker: false });
  const prepared = made instanceof Promise ? await made : made;
  if (prepared) return { project, prepared } as Prepared<K>;
  return workers.post({ kind: 'post', job, body: [copy!], project }, project, request.hasLeft);
}

async function prepareLarge<K extends keyof Posts>(context: Context, job: K, { body, token, hasLeft }: Request): Promise<Prepared<K>> {
  const { store, workers, tokenHeader } = context;
  const project = token === null ? null : await authenticate(store.access, token, tokenHeader);
  // The worker thread finds the token in the body. Until then a guess names the project that takes turns.
  const guess = project === null ? guessToken(body) : null;
  const owner = guess === null ? project : await projectOfToken(store.access, guess);
  return workers.post({ kind: 'post', job, body, project }, owner, hasLeft);
}

function decode(body: Uint8Array): RawParameters | ApiError {
  try {
    return decodeBody(body);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The number of files that a body lists. Which of the two parameters counts is known only after validation. */
function countFiles({ test_files, paths }: RawParameters): number {
  const lengthOf = (list: unknown) => (Array.isArray(list) ? list.length : 0);
  return Math.max(lengthOf(test_files), lengthOf(paths));
}
