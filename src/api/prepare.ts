import { ApiError } from '../api-error.js';
import { projectOfToken } from '../engine/access.js';
import { type Soon, whenKnown } from '../engine/soon.js';
import type { Request } from '../http/request.js';
import { limits } from '../limits.js';
import { PathList } from '../planning/paths/path-list.js';
import { type Posts, posts } from '../workers/jobs.js';
import { listNameOf, withList } from '../workers/listed-body.js';
import type { PostTask, Prepared } from '../workers/task.js';
import { authenticate } from './authenticate.js';
import type { Context } from './context.js';
import type { RawParameters } from './messages/coerce.js';
import { decodeBody, guessToken, tokenInBody } from './messages/decode.js';

/**
 * Authenticates and validates a POST, and plans what it asks for. A worker thread does this when the body or the list of test files is
 * large, else this thread. Throws the error of an invalid request.
 */
export function prepare<K extends keyof Posts>(context: Context, job: K, request: Request): Soon<Prepared<K>> {
  const [first] = request.body as [Uint8Array];
  const isSmall = request.body.length === 1 && first.length < limits.pooledBodyBytes;
  return isSmall ? prepareSmall(context, job, request, first) : prepareLarge(context, job, request);
}

/** Every pull and recording comes along here, and nearly always without a wait. */
function prepareSmall<K extends keyof Posts>(context: Context, job: K, request: Request, body: Uint8Array): Soon<Prepared<K>> {
  const { store, workers, tokenHeader, pullCost, now } = context;
  const { hasLeft } = request;
  // The body is valid only until the first wait, so it is decoded now, and copied if a worker thread may need it.
  const sent = decode(body);
  const files = sent instanceof ApiError ? 0 : countFiles(sent);
  const mayNeedWorker = job === 'preparePlan' || (files > 0 && job !== 'prepareSubset');
  const copy = mayNeedWorker ? new Uint8Array(body) : null;

  if (request.token === null && sent instanceof ApiError) throw sent;
  const token = request.token ?? tokenInBody(sent as RawParameters);
  if (files >= limits.pooledTestFiles) return prepareLarge(context, job, { body: [copy ?? new Uint8Array(body)], token, hasLeft });
  return whenKnown(authenticate(store.access, token, tokenHeader, now()), project => {
    if (sent instanceof ApiError) throw sent;
    const made: Soon<object | null> = posts[job](store, sent, project, { pullCost, isWorker: false });
    return whenKnown(made, prepared =>
      prepared ? ({ project, prepared } as Prepared<K>) : workers.post({ kind: 'post', job, body: [copy!], project }, project, hasLeft),
    );
  });
}

async function prepareLarge<K extends keyof Posts>(
  context: Context,
  job: K,
  { body, token, hasLeft }: Pick<Request, 'body' | 'token' | 'hasLeft'>,
): Promise<Prepared<K>> {
  const { store, workers, tokenHeader, now } = context;
  const project = token === null ? null : await authenticate(store.access, token, tokenHeader, now());
  // The worker thread finds the token in the body. Until then a guess names the project that takes turns.
  const guess = project === null ? guessToken(body) : null;
  const owner = guess === null ? project : await projectOfToken(store.access, guess, now());
  const sooner = () => (owner === null ? null : prepareKnown(context, job, { body, token }, owner));
  const known = await sooner();
  if (known && 'prepared' in known) return known;
  return workers.post({ kind: 'post', job, body, project }, owner, hasLeft, sooner);
}

/**
 * Prepares a large body whose list of test files is known, without parsing the list. Returns a task if a worker thread must plan it. Null: a
 * worker thread must decode the whole body.
 */
async function prepareKnown<K extends keyof Posts>(
  { store, workers, tokenHeader, pullCost, now }: Context,
  job: K,
  { body, token }: Pick<Request, 'body' | 'token'>,
  owner: number,
): Promise<Prepared<K> | PostTask<K> | null> {
  const name = listNameOf(job);
  const known = name && workers.lists.find(owner, body, name);
  if (!known) return null;
  const { list, rest, placeholder } = known;
  const project = token === null ? await authenticate(store.access, tokenInBody(known.sent), tokenHeader, now()) : owner;
  if (project !== owner) return null;
  const sent = withList(known.sent, name, new PathList(list.columns));
  const prepared = await posts[job](store, sent, project, { pullCost, isWorker: false });
  if (prepared) return { project, prepared } as Prepared<K>;
  return { kind: 'post', job, body: [new Uint8Array(rest)], project, list: { name, placeholder, columns: list.columns } };
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
