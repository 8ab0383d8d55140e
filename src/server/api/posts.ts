import { toSegments } from '../../base/bytes.js';
import type { Soon } from '../../base/soon.js';
import { byName } from '../../protocol/case-outcomes.js';
import type { Checkout, Links } from '../../protocol/messages/parameters.js';
import type { HeartbeatMessage, TestQueueMessage } from '../../protocol/messages/queue.js';
import { pieceOf } from '../../protocol/piece-path.js';
import { digest, type NodeKey, queueKey, splitKey, UNNAMED_CI_RUN } from '../engine/keys.js';
import { type CaseReport, encodeCases } from '../engine/pieces/case-report.js';
import type { NodeLinks, Checkout as NotedCheckout, ToldByNode } from '../engine/ports/ci-runs.js';
import type { NewRun } from '../engine/ports/recordings.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { PUBLIC_TEST_FILES } from '../engine/public-side/allowance.js';
import { isPublicSide } from '../engine/public-side/side.js';
import { boundFailed } from '../engine/queue/failed.js';
import type { BatchReport, CancelRequest, HeartbeatRequest, QueueRequest } from '../engine/queues.js';
import { newRun } from '../engine/recordings.js';
import type { SplitRequest } from '../engine/splits.js';
import type { ListName } from '../engine/suites/list-in-body.js';
import { NOTHING_PLANNED, type PlanOptions, planQueue, planSplit } from '../engine/suites/plan-suite.js';
import { type Suite, type SuiteColumns, suiteOf } from '../engine/suites/suite.js';
import type { CachedSuite } from '../engine/suites/suite-cache.js';
import type { AskedProved } from '../engine/suites/unproved-files.js';
import { type PlanSubject, preparePlan } from '../insight/what-if/prepare-plan.js';
import { apiErrors } from './errors.js';
import { toBuildSubsetMessage } from './read/build.js';
import { toTestCasesMessage } from './read/cases.js';
import { toPlanMessage } from './read/plan.js';
import { isInitialization, toCancelMessage, toHeartbeatMessage, toQueueMessage, toTestQueueMessage } from './read/queue.js';
import { toSplitMessage } from './read/split.js';
import type { RawParameters } from './read/validation.js';

/**
 * The POSTs whose work depends on the suite: what a message asks for, and how it is prepared. That only reads the store. It runs on the
 * main thread when it is small, and in a worker thread when it is large, so its results move between threads as blocks of bytes.
 */

/** A valid message: what it asks for, and the suite that it lists; null: none. */
export interface Listing<Asked> {
  asked: Asked;
  suite: Suite | null;
}

/** A POST in two steps: the request is prepared before anything is changed. */
export interface Post<Asked, Prepared> {
  /** The parameter that lists all test files; null: its list is another one each time. */
  list: ListName | null;
  /** Validates a message. Throws a 422. @param suite the cached suite of its list; null: it is not cached */
  read(sent: RawParameters, project: number, suite: Suite | null): Listing<Asked>;
  /** Null: only a worker thread should do it. */
  prepare(store: Store, asked: Asked, suite: Suite | null, options: PlanOptions): Soon<Prepared | null>;
}

interface RecordingAsked {
  node: NodeKey;
  run: NewRun;
}

interface QueueAsked {
  request: QueueRequest;
  /** See `estimate`. */
  sizes: readonly number[];
  /** Files that failed last, and new ones, go first. Only clients that report failures gain by it. */
  failingFirst: boolean;
  /** See planQueue. */
  proved: AskedProved | null;
  /** The fields of the request that the answer repeats. */
  echo: object | null;
}

/** POST /v1/build_subsets */
function toRecording(sent: RawParameters, project: number): Listing<RecordingAsked> {
  const message = toBuildSubsetMessage(sent);
  assertFew(project, 'test_files', message.test_files);
  const { test_files, commit_hash, branch, node_total, node_index, ci_build_id, tells_outcomes } = message;
  const node = { commit_hash, branch, node_total, node_index };
  return { asked: { node, run: newRun(test_files, ci_build_id || undefined, tells_outcomes) }, suite: null };
}

/** POST /v1/build_distributions/subset */
export function toSplit(sent: RawParameters, project: number, cached: Suite | null): Listing<SplitRequest> {
  const message = toSplitMessage(withFirst(sent, 'test_files', cached));
  const { commit_hash, branch, node_total, node_index, ci_build_id, fixed_test_suite_split, cache_read_attempt, test_files = [] } = message;
  const isPublic = isPublicSide(project);
  // CI runs of strangers do not share a split.
  const key = splitKey(project, { commit_hash, branch, node_total }, ci_build_id, fixed_test_suite_split && !isPublic);
  const suite = cache_read_attempt ? null : (cached ?? suiteOf(test_files.map(({ path }) => path)));
  assertFew(project, 'test_files', suite);
  return { asked: { key, node_index, listDigest: message.test_files_digest, told: toldBy(message) }, suite };
}

/** POST /v1/plan */
function toPlan(sent: RawParameters, project: number, cached: Suite | null): Listing<PlanSubject> {
  const message = toPlanMessage(withFirst(sent, 'test_files', cached));
  const { branch, mode, nodes, within = null, start_spread = null, pull_cost = null, setup = null, test_files } = message;
  const asked = { project, branch, mode, nodes, within, startSpread: start_spread, pullCost: pull_cost, setup };
  return { asked, suite: test_files ? (cached ?? suiteOf(test_files.map(({ path }) => path))) : null };
}

/** POST /v1/queues/queue */
function toQueue(sent: RawParameters, project: number, cached: Suite | null): Listing<QueueAsked> {
  const message = toQueueMessage(withFirst(sent, 'test_files', cached));
  const { commit_hash, branch, node_total, node_index, node_build_id, can_initialize_queue: isFirstRequest, batch_uuid = null } = message;
  const key = queueKey(project, { commit_hash, branch, node_total }, node_build_id);
  const isPublic = isPublicSide(project);
  const request: QueueRequest = {
    key,
    node_index,
    listDigest: undefined,
    isFirstRequest,
    // A later pull without a batch would look like the end of the queue.
    takesNothing: message.skip_pull && isFirstRequest,
    wantsLastSplit: message.fixed_queue_split && isFirstRequest && !isPublic,
    run: key.digest,
    batch_uuid,
    report: null,
    heartbeats: false,
    retriesFailed: false,
    pieces: null,
    told: null,
  };
  const suite = isInitialization(message) ? (cached ?? suiteOf(message.test_files!.map(({ path }) => path))) : null;
  assertFew(project, 'test_files', suite);
  return { asked: { request, sizes: [], failingFirst: false, proved: null, echo: null }, suite };
}

/** POST /v2/queues/queue */
function toTestQueue(sent: RawParameters, project: number, cached: Suite | null): Listing<QueueAsked> {
  const message = toTestQueueMessage(withFirst(sent, 'paths', cached));
  const { can_initialize_queue: isFirstRequest, node_uuid, batch_index, sizes = [], order = 'failing-first' } = message;
  const { key, node_index, run } = processOf(message, project);
  const isPublic = isPublicSide(project);
  const request: QueueRequest = {
    key,
    node_index,
    listDigest: message.test_files_digest,
    isFirstRequest,
    takesNothing: message.skip_pull === true && isFirstRequest,
    wantsLastSplit: false,
    run,
    batch_uuid: `${run} ${batch_index}`,
    report: reportOf(message),
    heartbeats: message.sends_heartbeats === true,
    // Others wait for the node that retries a file, until it is silent.
    retriesFailed: message.sends_heartbeats === true && message.retry_failed === true,
    pieces: isPublic ? null : (message.pieces ?? null),
    told: isFirstRequest ? toldBy(message) : null,
  };
  const suite = isInitialization(message) ? (cached ?? suiteOf(message.paths!)) : null;
  assertFew(project, 'paths', suite);
  if (suite && sizes.length !== 0 && sizes.length !== suite.length)
    throw apiErrors.invalid({ sizes: [`has ${sizes.length} entries for ${suite.length} distinct paths`] });
  const echo = message.wants_times ? { node_uuid, batch_index } : null;
  const { checkout = null } = request.told ?? {};
  const proved =
    !isPublic && message.proved_max_age !== undefined && checkout?.tree && checkout.doubt === null
      ? { tree: checkout.tree, keys: checkout.keys, maxAge: message.proved_max_age }
      : null;
  return { asked: { request, sizes, failingFirst: order === 'failing-first' && !isPublic, proved, echo }, suite };
}

/** Throws a 422 when a request with a public token lists too many test files. */
function assertFew(project: number, parameter: string, list: { length: number } | null): void {
  if (list === null || list.length <= PUBLIC_TEST_FILES || !isPublicSide(project)) return;
  throw apiErrors.invalid({
    [parameter]: [`has ${list.length} test files, and with a public token at most ${PUBLIC_TEST_FILES} are allowed`],
  });
}

/** POST /v2/queues/heartbeat */
function toHeartbeat(sent: RawParameters, project: number): Listing<HeartbeatRequest> {
  return { asked: processOf(toHeartbeatMessage(sent), project), suite: null };
}

/** POST /v2/queues/cancel */
function toCancel(sent: RawParameters, project: number): Listing<CancelRequest> {
  const message = toCancelMessage(sent);
  return { asked: { ...processOf(message, project), report: reportOf(message) }, suite: null };
}

function processOf(message: HeartbeatMessage, project: number): HeartbeatRequest {
  const { commit_hash, branch, node_total, node_index, test_queue_id, node_uuid } = message;
  return { key: queueKey(project, { commit_hash, branch, node_total }, test_queue_id), node_index, run: digest(node_uuid) };
}

function reportOf({ batch_id, failed_paths = [], times }: Pick<TestQueueMessage, 'batch_id' | 'failed_paths' | 'times'>): BatchReport {
  return { batch_id: batch_id ?? null, failed_paths: boundFailed(failed_paths), times };
}

/** What a node tells of itself in its first requests; null: nothing. A client of Ballast, which sends a digest, then tells that it knows nothing. */
function toldBy(message: Links & Checkout & { test_files_digest?: string }): ToldByNode | null {
  const told = { links: linksOf(message), checkout: checkoutOf(message), command: message.command_digest ?? null };
  return told.links || told.checkout || told.command !== null || message.test_files_digest !== undefined ? told : null;
}

function checkoutOf({ tree, tree_doubt: doubt, proof_keys: keys = [] }: Checkout): NotedCheckout | null {
  return tree === undefined && doubt === undefined ? null : { tree: tree ?? null, doubt: doubt ?? null, keys: keys.toSorted() };
}

/** The addresses of a message; null: it has none. */
function linksOf({ job_url, commit_url, diff_url }: Links): NodeLinks | null {
  if (job_url === undefined && commit_url === undefined && diff_url === undefined) return null;
  return { job_url: job_url ?? null, commit_url: commit_url ?? null, diff_url: diff_url ?? null };
}

/** The parameters with the first entry of a cached list in place of the list, whose entries were valid when they were sent before. */
function withFirst(sent: RawParameters, name: ListName, cached: Suite | null): RawParameters {
  if (!cached) return sent;
  const path = cached.at(0);
  return { ...sent, [name]: name === 'paths' ? [path] : [{ path }] };
}

const post = <Asked, Prepared>(definition: Post<Asked, Prepared>) => definition;

/** POST /v2/test_cases */
function toCases(sent: RawParameters): Listing<CaseReport[]> {
  const { files, runner, commit_hash, branch, node_total, ci_build_id = UNNAMED_CI_RUN } = toTestCasesMessage(sent);
  const ci_run = digest(commit_hash, branch, node_total, ci_build_id);
  const asked = files.map(({ path, is_piece = false, seconds, cases, passed_whole = [] }): CaseReport => {
    const piece = is_piece ? pieceOf(path) : null;
    return {
      file: piece?.file ?? path,
      piece: piece && { number: piece.number, count: piece.count },
      ...{ ci_run, commit_hash, runner: runner ?? null, seconds, passed_whole },
      cases: byName(cases),
    };
  });
  return { asked, suite: null };
}

function prepareQueue(store: Store, { request, sizes, failingFirst, proved, echo }: QueueAsked, suite: Suite | null, options: PlanOptions) {
  // A pull brings no list.
  if (!suite) return { request, echo, planned: NOTHING_PLANNED };
  const { key, wantsLastSplit: repeatsNewest, pieces } = request;
  const planning = planQueue(store, key, suite, { repeatsNewest, sizes, pieces, failingFirst, proved }, options);
  return planning.then(planned => planned && { request, echo, planned });
}

function prepareSplit(store: Store, request: SplitRequest, suite: Suite | null, options: PlanOptions) {
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
  prepareCases: post({ list: null, read: toCases, prepare: (_store, asked: CaseReport[]) => encodeCases(asked) }),
  prepareHeartbeat: post({ list: null, read: toHeartbeat, prepare: (_store, asked: HeartbeatRequest) => asked }),
  prepareCancel: post({ list: null, read: toCancel, prepare: (_store, asked: CancelRequest) => asked }),
  preparePlan: post({
    list: 'test_files',
    read: toPlan,
    prepare: (store, asked: PlanSubject, suite, { isWorker, pullCost }) => (isWorker ? preparePlan(store, asked, suite, pullCost) : null),
  }),
};

export type Posts = typeof posts;
export type Asked<K extends keyof Posts> = ReturnType<Posts[K]['read']>['asked'];
export type PreparedBy<K extends keyof Posts> = NonNullable<Awaited<ReturnType<Posts[K]['prepare']>>>;

/** The result of preparing a POST. */
export interface Prepared<K extends keyof Posts> {
  project: number;
  prepared: PreparedBy<K>;
  /** The suite that it lists, to be cached; missing: it is cached, or too small to be. */
  suite?: CachedSuite;
}

/** The input of a thread that prepares a POST: the body, or what it asks for when its suite is cached. */
export type PostInput<K extends keyof Posts = keyof Posts> = {
  /** When the request came. */
  at: Millis;
} & (
  | {
      /** The pieces that were received. */
      body: Uint8Array[];
      /** Null: the token is in the body. */
      project: number | null;
    }
  | { asked: Asked<K>; columns: SuiteColumns | null; project: number }
);
