import { bytesIn, shareBytes } from '../../base/bytes.js';
import type { Store } from '../engine/ports/store.js';
import { POOLED_TEST_FILES } from '../engine/suites/plan-suite.js';
import { Suite } from '../engine/suites/suite.js';
import type { ApiError } from '../http/api-error.js';
import { POOLED_BODY_BYTES } from '../http/body.js';
import type { Task } from '../threads/threads.js';
import { authenticate, tokenInBody } from './authentication/token.js';
import { toApiError } from './errors.js';
import { decodeBody, decodeListed } from './json.js';
import { type Asked, type Listing, type Post, type PostInput, type Posts, type Prepared, type PreparedBy, posts } from './posts.js';
import { type Reads, reads } from './reads.js';

/** The work that a worker thread does for the main thread. */

/** The settings that jobs need. */
export interface JobSettings {
  /** The header that a 403 names when no token was sent. */
  tokenHeader: string;
  /** The time that a node loses between two batches of a queue, as a weight. */
  pullCost: number;
}

/** The fields of an ApiError, because a class instance cannot be passed between threads. */
export type JobAnswer = ({ value: unknown } | { error: Pick<ApiError, 'status' | 'errors' | 'headers' | 'reason'> }) & {
  /** The body that was moved to the thread: its memory is free again. */
  read?: readonly Uint8Array[];
};

/** Performs a task of the job runner in a worker thread. */
export async function perform(store: Store, settings: JobSettings, { job, input }: Task): Promise<JobAnswer> {
  const answer = await answerOf(store, settings, job, input);
  const sent = job in posts ? (input as PostInput) : null;
  return sent && 'body' in sent ? { ...answer, read: sent.body } : answer;
}

async function answerOf(store: Store, settings: JobSettings, job: string, input: unknown): Promise<JobAnswer> {
  try {
    return { value: await performJob(store, settings, job, input) };
  } catch (error) {
    const apiError = toApiError(error);
    if (!apiError) throw error;
    const { status, errors, headers, reason } = apiError;
    return { error: { status, errors, headers, reason } };
  }
}

async function performJob(store: Store, settings: JobSettings, job: string, input: unknown): Promise<unknown> {
  if (job in posts) return preparePost(store, settings, job as keyof Posts, input as PostInput);
  return reads[job as keyof Reads](store, input as never);
}

async function preparePost<K extends keyof Posts>(store: Store, settings: JobSettings, job: K, input: PostInput<K>): Promise<Prepared<K>> {
  const { prepare } = posts[job] as unknown as Post<Asked<K>, PreparedBy<K>>;
  // A worker thread plans whatever it is given.
  const { at } = input;
  const options = { pullCost: settings.pullCost, isWorker: true, at };
  if ('asked' in input) {
    const { asked, columns, project } = input;
    return { project, prepared: (await prepare(store, asked, columns && new Suite(columns), options))! };
  }
  const { sent, list } = decode(job, input.body);
  const project = input.project ?? (await authenticate(store.access, tokenInBody(sent), settings.tokenHeader, at));
  const { asked, suite } = posts[job].read(sent, project, null) as Listing<Asked<K>>;
  const prepared = (await prepare(store, asked, suite, options))!;
  const isLarge = suite !== null && (suite.length >= POOLED_TEST_FILES || bytesIn(input.body) >= POOLED_BODY_BYTES);
  return { project, prepared, ...(list && isLarge && { suite: { ...list, columns: suite.columns } }) };
}

function decode(job: keyof Posts, body: readonly Uint8Array[]): ReturnType<typeof decodeListed> {
  const { list } = posts[job];
  // The text of its list may be kept, in memory that threads share.
  return list
    ? decodeListed(shareBytes(...body), list)
    : { sent: decodeBody(body.length === 1 ? body[0]! : Buffer.concat(body)), list: null };
}
