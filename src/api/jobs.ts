import { shareBytes, toSegments } from '../bytes.js';
import { preparePlan } from '../engine/insight/what-if/prepare-plan.js';
import { prepareWhatIf } from '../engine/insight/what-if/prepare-what-if.js';
import { playVariants, type Scenario } from '../engine/insight/what-if/scenario.js';
import { type LongFile, playCuts } from '../engine/insight/what-if/what-if.js';
import type { Store } from '../engine/ports/store.js';
import type { Soon } from '../engine/soon.js';
import type { ListName } from '../engine/suites/list-in-body.js';
import { NOTHING_PLANNED, type PlanOptions, planQueue, planSplit } from '../engine/suites/plan-suite.js';
import { Suite, type SuiteColumns } from '../engine/suites/suite.js';
import type { CachedSuite } from '../engine/suites/suite-cache.js';
import type { ApiError } from '../http/api-error.js';
import { limits } from '../limits.js';
import type { Task } from '../threads/threads.js';
import { authenticate } from './authenticate.js';
import { buildOutline, buildPiece } from './build-pieces.js';
import { decodeBody, decodeListed, tokenInBody } from './decode.js';
import { toApiError } from './errors.js';
import type { RawParameters } from './messages/coerce.js';
import { reads as reading } from './reads.js';
import {
  type PlanAsked,
  type QueueAsked,
  type RecordingAsked,
  type SplitAsked,
  toPlan,
  toQueue,
  toRecording,
  toSplit,
  toTestQueue,
} from './requests.js';

/**
 * The work whose size depends on the suite. It only reads the store. It runs on the main thread when it is small, and in a worker
 * thread when it is large, so its results move between threads as blocks of bytes.
 */

/** A valid message: what it asks for, and the suite that it lists; null: none. */
export interface Listing<Asked> {
  asked: Asked;
  suite: Suite | null;
}

/** What a POST asks for is prepared before anything is changed. */
interface Post<Asked, Prepared> {
  /** The parameter that lists all test files; null: its list is another one each time. */
  list: ListName | null;
  /** Validates a message. Throws a 422. @param suite that of its list, if it is known */
  read(sent: RawParameters, project: number, suite: Suite | null): Listing<Asked>;
  /** Null: only a worker thread should do it. */
  prepare(store: Store, asked: Asked, suite: Suite | null, options: PlanOptions): Soon<Prepared | null>;
}

const post = <Asked, Prepared>(definition: Post<Asked, Prepared>) => definition;

function prepareQueue(store: Store, { request, echo }: QueueAsked, suite: Suite | null, options: PlanOptions) {
  // A pull brings no list.
  if (!suite) return { request, echo, planned: NOTHING_PLANNED };
  const planning = planQueue(store, request.key, suite, request.wantsLastSplit, options);
  return planning.then(planned => planned && { request, echo, planned });
}

function prepareSplit(store: Store, { request }: SplitAsked, suite: Suite | null, options: PlanOptions) {
  if (!suite) return { request, planned: NOTHING_PLANNED };
  return planSplit(store, request.key, suite, options).then(planned => planned && { request, planned });
}

export const posts = {
  prepareSubset: post({
    list: null,
    read: toRecording,
    prepare: (_store, { node, run }: RecordingAsked, _suite, { isWorker }) =>
      isWorker
        ? { node, run: { ...run, paths: toSegments(run.paths as string[]), seconds: Float64Array.from(run.seconds) } }
        : { node, run },
  }),
  prepareSplit: post({ list: 'test_files', read: toSplit, prepare: prepareSplit }),
  prepareQueue: post({ list: 'test_files', read: toQueue, prepare: prepareQueue }),
  prepareTestQueue: post({ list: 'paths', read: toTestQueue, prepare: prepareQueue }),
  preparePlan: post({
    list: 'test_files',
    read: toPlan,
    prepare: (store, asked: PlanAsked, suite, { isWorker, pullCost }) => (isWorker ? preparePlan(store, asked, suite, pullCost) : null),
  }),
};

/** Answers that are built from many records, and simulations. */
export const reads = {
  prepareWhatIf,
  playVariants: (_store: Store, { scenario, nodes }: { scenario: Scenario; nodes: readonly number[] }) => playVariants(scenario, nodes),
  playCuts: (_store: Store, { scenario, nodes, files }: { scenario: Scenario; nodes: number; files: readonly LongFile[] }) =>
    playCuts(scenario, nodes, files),
  buildOutline,
  buildPiece,
  ...reading,
};

export type Posts = typeof posts;
export type Reads = typeof reads;
export type Asked<K extends keyof Posts> = ReturnType<Posts[K]['read']>['asked'];
export type PreparedBy<K extends keyof Posts> = NonNullable<Awaited<ReturnType<Posts[K]['prepare']>>>;

/** The result of preparing a POST. */
export interface Prepared<K extends keyof Posts> {
  project: number;
  prepared: PreparedBy<K>;
  /** The suite that it lists, to be cached; missing: it is cached, or too small to be. */
  suite?: CachedSuite;
}

/** The input of a thread that prepares a POST: the body, or what it asks for when its list is known. */
export type PostInput<K extends keyof Posts = keyof Posts> =
  | {
      /** The pieces that were received. */
      body: Uint8Array[];
      /** Null: the token is in the body. */
      project: number | null;
    }
  | { asked: Asked<K>; columns: SuiteColumns | null; project: number };

/** The settings that jobs need. */
export interface JobSettings {
  /** The header that a 403 names when no token was sent. */
  tokenHeader: string;
  /** The time that a node loses between two batches of a queue, as a weight. */
  pullCost: number;
}

/** The fields of an ApiError, because a class instance cannot be passed between threads. */
export type JobAnswer = { value: unknown } | { error: Pick<ApiError, 'status' | 'errors' | 'headers' | 'reason'> };

/** Performs a task of the job runner in a worker thread. */
export async function perform(store: Store, settings: JobSettings, { job, input }: Task): Promise<JobAnswer> {
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
  if (job === WARM_UP.job) {
    for (const [name, body] of warmUpBodies()) await preparePost(store, settings, name, body);
    return null;
  }
  if (job in posts) return preparePost(store, settings, job as keyof Posts, input as PostInput);
  return reads[job as keyof Reads](store, input as never);
}

async function preparePost<K extends keyof Posts>(store: Store, settings: JobSettings, job: K, input: PostInput<K>): Promise<Prepared<K>> {
  const { prepare } = posts[job] as unknown as Post<Asked<K>, PreparedBy<K>>;
  // A worker thread plans whatever it is given.
  const options = { pullCost: settings.pullCost, isWorker: true };
  if ('asked' in input) {
    const { asked, columns, project } = input;
    return { project, prepared: (await prepare(store, asked, columns && new Suite(columns), options))! };
  }
  const { sent, list } = decode(job, input.body);
  const project = input.project ?? (await authenticate(store.access, tokenInBody(sent), settings.tokenHeader));
  const { asked, suite } = posts[job].read(sent, project, null) as Listing<Asked<K>>;
  const prepared = (await prepare(store, asked, suite, options))!;
  const bytes = input.body.reduce((sum, { length }) => sum + length, 0);
  const isLarge = suite !== null && (suite.length >= limits.pooledTestFiles || bytes >= limits.pooledBodyBytes);
  return { project, prepared, ...(list && isLarge && { suite: { ...list, columns: suite.columns } }) };
}

function decode(job: keyof Posts, body: readonly Uint8Array[]): ReturnType<typeof decodeListed> {
  const { list } = posts[job];
  // The text of its list may be kept, in memory that threads share.
  return list
    ? decodeListed(shareBytes(...body), list)
    : { sent: decodeBody(body.length === 1 ? body[0]! : Buffer.concat(body)), list: null };
}

const FILES = 5000;
/** The queues of the second version of the protocol are planned by the same code. */
const JOBS = ['prepareSplit', 'prepareQueue'] as const;
/** No project has this id, so none of its paths has a known time. */
const NO_PROJECT = 0;

/**
 * Plans a made-up suite and throws the plans away. Code that has run a few times is compiled, so the first large suite after a start takes no
 * longer than the next. It reads the store and writes nothing.
 */
export const WARM_UP = { job: 'warm-up', input: null };

/** What is planned: a job, and its input. */
export function warmUpBodies(): [keyof Posts, PostInput][] {
  return JOBS.map(job => [job, { body: [body()], project: NO_PROJECT }]);
}

function body(): Uint8Array {
  const test_files = Array.from({ length: FILES }, (_, i) => ({ path: `warm-up/area_${i % 30}/file_${i}_spec.rb` }));
  const build = { commit_hash: 'warm-up', branch: 'warm-up', node_total: 16, node_index: 0, test_files };
  const split = { ci_build_id: '1', cache_read_attempt: false };
  const queue = { node_build_id: '1', can_initialize_queue: true, attempt_connect_to_queue: false };
  return new TextEncoder().encode(JSON.stringify({ ...build, ...split, ...queue }));
}
