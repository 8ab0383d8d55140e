import { bytesIn } from '../../base/bytes.js';
import { type Soon, whenKnown } from '../../base/soon.js';
import { projectOfToken } from '../engine/access.js';
import { POOLED_TEST_FILES } from '../engine/suites/plan-suite.js';
import { Suite } from '../engine/suites/suite.js';
import { ApiError } from '../http/api-error.js';
import { POOLED_BODY_BYTES } from '../http/body.js';
import type { Request } from '../http/request.js';
import { admit } from './authentication/public-token.js';
import { authenticate, guessToken, tokenInBody } from './authentication/token.js';
import type { Context } from './context.js';
import { decodeBody, decodeRest } from './json.js';
import { type Asked, type PostInput, type Posts, type Prepared, posts } from './posts.js';
import type { RawParameters } from './read/validation.js';

/**
 * Authenticates and validates a POST, and plans what it asks for. A worker thread does this when the body or the list of test files is
 * large, else this thread. Throws the error of an invalid request.
 */
export function prepare<K extends keyof Posts>(context: Context, job: K, request: Request): Soon<Prepared<K>> {
  const [first] = request.body as [Uint8Array];
  const isSmall = request.body.length === 1 && first.length < POOLED_BODY_BYTES;
  return isSmall ? prepareSmall(context, job, request, first) : prepareLarge(context, job, request);
}

/** Every pull and recording comes along here, and nearly always without a wait. */
function prepareSmall<K extends keyof Posts>(context: Context, job: K, request: Request, body: Uint8Array): Soon<Prepared<K>> {
  const { store, jobs, tokenHeader, now } = context;
  const { hasLeft } = request;
  const bytes = body.length;
  // The body is valid only until the first wait, so it is decoded now.
  const sent = decode(body);
  if (request.token === null && sent instanceof ApiError) throw sent;
  const token = request.token ?? tokenInBody(sent as RawParameters);
  if (!(sent instanceof ApiError) && countFiles(sent) >= POOLED_TEST_FILES) {
    return prepareLarge(context, job, { ...request, body: [new Uint8Array(body)], token });
  }
  return whenKnown(authenticate(store.access, token, tokenHeader, now()), project => {
    admit(context, request, project, bytes);
    if (sent instanceof ApiError) throw sent;
    return whenKnown(prepareHere(context, job, sent, project, null), found =>
      'prepared' in found ? found : jobs.post(job, found, project, hasLeft),
    );
  });
}

async function prepareLarge<K extends keyof Posts>(context: Context, job: K, request: Request): Promise<Prepared<K>> {
  const { body, token, hasLeft } = request;
  const bytes = bytesIn(body);
  const { store, jobs, tokenHeader, now } = context;
  const project = token === null ? null : await authenticate(store.access, token, tokenHeader, now());
  // The worker thread finds the token in the body. Until then a guess names the project that takes turns.
  const guess = project === null ? guessToken(body) : null;
  const owner = guess === null ? project : await projectOfToken(store.access, guess, now());
  if (owner !== null) admit(context, request, owner, bytes);
  if (owner !== null && isQueueJob(job)) await context.summarizer.learnFirst(owner, null);
  const sooner = () => (owner === null ? null : prepareCached(context, job, { body, token }, owner));
  const ready = await sooner();
  if (ready && 'prepared' in ready) return ready;
  const prepared = await jobs.post(job, { body, project, at: now() }, owner, hasLeft, sooner);
  // Nothing is changed yet.
  if (prepared.project !== owner) admit(context, request, prepared.project, bytes);
  return prepared;
}

/** Prepares a large body whose suite is cached, without parsing its list. Null: a worker thread must decode the whole body. */
async function prepareCached<K extends keyof Posts>(
  context: Context,
  job: K,
  { body, token }: Pick<Request, 'body' | 'token'>,
  owner: number,
): Promise<Prepared<K> | PostInput<K> | null> {
  const { store, jobs, tokenHeader, now } = context;
  const name = posts[job].list;
  const found = name && jobs.suites.find(owner, body, name);
  // A large rest is parsed in a worker thread.
  if (!found || found.rest.length >= POOLED_BODY_BYTES) return null;
  const { suite, rest } = found;
  const sent = decodeRest(rest, name, suite.containers);
  if (!sent) return null;
  const project = token === null ? await authenticate(store.access, tokenInBody(sent), tokenHeader, now()) : owner;
  return project === owner ? prepareHere(context, job, sent, project, new Suite(suite.columns)) : null;
}

/** Prepares a POST on this thread, or returns the input for a worker thread that does it. @param cached its suite; null: it is not cached */
function prepareHere<K extends keyof Posts>(
  context: Context,
  job: K,
  sent: RawParameters,
  project: number,
  cached: Suite | null,
): Soon<Prepared<K> | PostInput<K>> {
  const { store, summarizer, pullCost, now } = context;
  const post = posts[job];
  const { asked, suite } = post.read(sent, project, cached);
  // A new queue is planned with what batches of the project cost. With a cached suite, that was asked before.
  const learning =
    suite && !cached && isQueueJob(job) ? summarizer.learnFirst(project, (asked as Asked<'prepareQueue'>).request.key) : undefined;
  const preparing: Soon<object | null> = whenKnown(learning, () =>
    post.prepare(store, asked as never, suite, { pullCost, isWorker: false, at: now() }),
  );
  return whenKnown(preparing, prepared =>
    prepared ? ({ project, prepared } as Prepared<K>) : ({ asked, columns: suite?.columns ?? null, project, at: now() } as PostInput<K>),
  );
}

const isQueueJob = (job: keyof Posts) => job === 'prepareQueue' || job === 'prepareTestQueue';

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
