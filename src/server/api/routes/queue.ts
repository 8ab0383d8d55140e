import { bytesIn } from '../../../base/bytes.js';
import { pluralize } from '../../../base/plural.js';
import { orElse, type Soon, whenKnown } from '../../../base/soon.js';
import type { ProvedPart } from '../../../protocol/answers/completeness.js';
import { limits } from '../../../protocol/limits.js';
import type {
  CancelAnswer,
  ConnectFailed,
  HeartbeatAnswer,
  QueueAnswer,
  QueueForecast,
  TestPathsAnswer,
  TestQueueAnswer,
} from '../../../protocol/messages/queue.js';
import { PIECE_SIGN } from '../../../protocol/piece-path.js';
import { newestBuild } from '../../engine/builds.js';
import type { QueueKey } from '../../engine/keys.js';
import { bytesOfNote } from '../../engine/node-notes.js';
import { handedPieces } from '../../engine/pieces/cuts.js';
import { decodeFiles, pathsOfQueue } from '../../engine/planned-files.js';
import type { QueueInfo } from '../../engine/ports/queues.js';
import type { Millis } from '../../engine/ports/store.js';
import { isPublicSide } from '../../engine/public-side/side.js';
import { type Batch, decisionOf, learnedBy } from '../../engine/queue/batch.js';
import type { ExpectedEnd } from '../../engine/queue/expected-end.js';
import { STANDBY_PULL_SECONDS } from '../../engine/queue/leases.js';
import { batchesOf, cancel, heartbeat, type Pulled, pull, type QueueRequest, settle } from '../../engine/queues.js';
import { refusals } from '../../engine/refusal.js';
import { recordSilent } from '../../engine/silent-nodes.js';
import { describeLists, type LeftOut } from '../../engine/suites/compare-lists.js';
import type { PlannedTestFile } from '../../engine/test-file.js';
import type { Answer, Request } from '../../http/request.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';
import { askerOf } from '../authentication/authenticate.js';
import { assertRoomForPlan, countPlan } from '../authentication/public-token.js';
import type { Context } from '../context.js';
import { get, post } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { aroundLast, codeLine, decodeQuery, json, lines } from '../json.js';
import { buildsUrl } from '../links.js';
import { example, refusal, response, testFileResponses } from '../openapi/responses.js';
import type { PreparedBy } from '../posts.js';
import { prepare } from '../prepare.js';
import { toTestPathsQuery } from '../read/queue.js';
import { noteSpared } from './proof.js';

/** The encoding of the outcome of a pull in a version of the protocol. */
interface QueueEncoding {
  job: 'prepareQueue' | 'prepareTestQueue';
  /** The parameter that names the CI run. */
  ciRun: 'node_build_id' | 'test_queue_id';
  connectFailed(request: QueueRequest): ConnectFailed;
  /**
   * The end of the queue, or the answer to a request that takes nothing.
   * @param url the address of the build; null: the request was to take a batch
   * @param more other fields
   */
  empty(pulled: Pulled, url: string | null, more: object | null): object;
  /**
   * @param files the files of the batch, as a JSON array
   * @param cuts of the queue, encoded; null: no file of the batch is a piece
   * @param more other fields
   */
  batch(queue: QueueInfo, batch: Batch, files: Buffer, cuts: Uint8Array | null, echo: object | null, more: object | null): Answer;
  textHeaders(batch: Batch): Record<string, string> | undefined;
}

/** The code tells clients to send their test files. */
const CONNECT_FAILED: ConnectFailed = {
  message: 'There is no queue for this build yet: send the test files to initialise it.',
  code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED',
};

/** The files of a batch. A file is replaced by its failed test cases if only they are to run. */
function filesToRun({ files: indices, cases }: Batch, files: Buffer): PlannedTestFile[] {
  const all = decodeFiles(files);
  if (!cases) return all;
  const casesOf = new Map(cases);
  return all.flatMap((file, i) => casesOf.get(indices[i]!)?.map(path => ({ path, time_execution: null })) ?? [file]);
}

const version1: QueueEncoding = {
  job: 'prepareQueue',
  ciRun: 'node_build_id',
  connectFailed: ({ key }) => ({ queue_name: key.digest, ...CONNECT_FAILED }),
  empty: ({ queue, isNewQueue }, url): QueueAnswer => ({
    queue_name: queue.name,
    build_subset_id: null,
    test_files: [],
    ...(url !== null && !isNewQueue && { url }),
  }),
  // A batch that repeats a recorded run does not belong to the queue.
  batch: ({ name }, { build_subset_id }, files) => ({
    status: 200,
    body: files,
    around: aroundLast('test_files', { queue_name: build_subset_id === null ? name : null, build_subset_id }),
  }),
  textHeaders: () => undefined,
};

const version2: QueueEncoding = {
  job: 'prepareTestQueue',
  ciRun: 'test_queue_id',
  connectFailed: () => CONNECT_FAILED,
  empty: ({ standsBy, wasRecorded }, url, more): TestQueueAnswer => ({
    paths: [],
    batch_id: null,
    ...(standsBy && { pull_again_in: STANDBY_PULL_SECONDS }),
    ...(wasRecorded && { is_recorded: true }),
    ...more,
    ...(url !== null && { url }),
  }),
  batch(_, batch, encoded, cuts, echo, more) {
    const files = filesToRun(batch, encoded);
    const paths = files.map(({ path }) => path);
    const times = echo && { times: files.map(({ time_execution }) => time_execution) };
    const answer: TestQueueAnswer = { paths, batch_id: batch.seq, ...times, ...echo, ...more };
    return cuts ? { status: 200, body: handedPieces(cuts, paths), around: aroundLast('pieces', answer) } : json(200, answer);
  },
  textHeaders: ({ seq }) => ({ 'X-Ballast-Batch-Id': String(seq) }),
};

type PreparedQueue = PreparedBy<'prepareQueue'>;

function renewLease(context: Context, request: Request): Soon<Answer> {
  const { store, now } = context;
  return whenKnown(prepare(context, 'prepareHeartbeat', request), ({ prepared }) =>
    whenKnown(heartbeat(store, prepared, now()), ({ value }) => {
      if (value === null) throw apiErrors.queueNotFound('test_queue_id');
      if (value === false) throw apiErrors.notAtWork(prepared.node_index);
      return json(200, { lease_ends_in: value.leaseSeconds } satisfies HeartbeatAnswer);
    }),
  );
}

function cancelNode(context: Context, request: Request): Soon<Answer> {
  const { store, summarizer, now } = context;
  return whenKnown(prepare(context, 'prepareCancel', request), ({ project, prepared }) =>
    whenKnown(cancel(store, prepared, now()), ({ value, saved }) => {
      if (value) summarizer.recorded(project, prepared.key.build);
      return { ...json(200, { is_noted: value === true } satisfies CancelAnswer), saved };
    }),
  );
}

function answerPull(context: Context, request: Request, encoding: QueueEncoding): Soon<Answer> {
  const { dailyBytes } = context;
  return whenKnown(prepare(context, encoding.job, request), ({ project, prepared }) => {
    const { plan, sent } = prepared.planned;
    if (plan) dailyBytes.assertRoom(project, context.now());
    if (plan) assertRoomForPlan(context, request, project);
    const caller = { isRetry: request.retryCount > 0, hasLeft: request.hasLeft };
    const pulling = pull(context.store, prepared.request, prepared.planned, caller, context.now());
    return whenKnown(pulling, ({ value, saved }) => {
      // A batch keeps texts of its request. A request with a list of test files stores the plan, if it is the first.
      if (!sent && value?.isNewBatch) dailyBytes.add(project, bytesIn(request.body), context.now());
      const { key, node_index, told } = prepared.request;
      if (told && value && !value.isOtherList && !value.lacksPieces) {
        context.nodeNotes.note(key, value.queue.id, node_index, told);
        dailyBytes.add(project, bytesOfNote(told), context.now());
      }
      if (value && value.endedLeases.length > 0) void recordSilentNodes(context, key, value, saved);
      if (value?.isBack) context.summarizer.recorded(project, key.build);
      if (value?.isNewQueue && value.queue.list.proved) void noteLeftOut(context, key, value.queue.list.proved);
      if (plan && value?.isNewQueue) {
        dailyBytes.add(project, plan.files.bytes.length + (plan.cuts?.length ?? 0), context.now());
        countPlan(context, project);
      }
      const answering = value ? answerPulled(context, request, prepared, value, encoding) : answerNoQueue(request, prepared, encoding);
      return whenKnown(answering, answer => {
        answer.saved = saved;
        return answer;
      });
    });
  });
}

function answerPulled(context: Context, request: Request, prepared: PreparedQueue, pulled: Pulled, encoding: QueueEncoding): Soon<Answer> {
  const { queue, batch, isOtherList, lacksPieces } = pulled;
  const { request: asked, echo } = prepared;
  observe(context, asked.key.project, pulled);
  if (isOtherList) return answerOtherList(request, prepared, queue, encoding);
  if (lacksPieces) throw apiErrors.lacksPieces(queue.list.pieces_for!, asked.pieces);
  if (batch) return answerBatch(context, request, prepared, pulled, batch, encoding);
  if (request.wantsText) return lines([]);
  const url = asked.takesNothing ? buildsUrl(context, request, asked.key.build) : null;
  const passing = pulled.passedAgain.length > 0 ? pathsOfQueue(context.store, queue.id, pulled.passedAgain) : null;
  return whenKnown(passing, passed_again => {
    const more = echo && { ...echo, ...provedPart(queue, asked.isFirstRequest) };
    return json(200, encoding.empty(pulled, url, passed_again ? { ...more, passed_again } : more));
  });
}

function answerBatch(
  context: Context,
  request: Request,
  { request: { key, isFirstRequest }, echo }: PreparedQueue,
  { queue, expectedEnd, wasRecorded, decision }: Pulled,
  batch: Batch,
  encoding: QueueEncoding,
): Soon<Answer> {
  const { plans } = context.store;
  return orElse(
    () =>
      whenKnown(plans.files(queue.id, batch.files), files => {
        if (!files) throw refusals.expired('queue');
        return whenKnown(echo && isFirstRequest && batch.decision ? plans.part(queue.id, 'forecast') : null, planned =>
          // Most batches of a queue with pieces have none, and cuts may be megabytes to read.
          whenKnown(queue.list.pieces_for !== undefined && files.includes(PIECE_SIGN) ? plans.part(queue.id, 'cuts') : null, cuts => {
            const more = {
              ...(echo && decision && { learned: learnedBy(decision) }),
              ...(planned && { forecast: queueForecast(queue, batch, planned, expectedEnd, context.now()) }),
              ...(batch.retry && { is_retry: true }),
              ...(wasRecorded && { is_recorded: true }),
              ...(echo && provedPart(queue, isFirstRequest)),
            };
            const answer = request.wantsText ? batchLines(batch, files, encoding) : encoding.batch(queue, batch, files, cuts, echo, more);
            answer.onEnd = wasSent => settleBatch(context, key, batch, wasSent);
            return answer;
          }),
        );
      }),
    error => {
      settleBatch(context, key, batch, false);
      throw error;
    },
  );
}

/** Notes what the CI runs save that proved what a new queue leaves out, with the newest of them. */
function noteLeftOut(context: Context, { project, build, ci_run }: QueueKey, { seconds, ci_runs }: LeftOut): Promise<void> {
  const { commit_hash, branch } = build;
  return noteSpared(context, project, ci_runs[0]!.ci_run_id, { commit_hash, branch, ci_run, seconds });
}

/** What the queue leaves out, for the first answer to a process. */
function provedPart({ list: { proved } }: QueueInfo, isFirstRequest: boolean): { proved: ProvedPart } | null {
  return proved && isFirstRequest ? { proved: { test_files: proved.test_files, ci_runs: proved.ci_runs } } : null;
}

function queueForecast(
  { list }: QueueInfo,
  batch: Batch,
  { unknown_files, cutting }: Forecast,
  end: ExpectedEnd | null,
  now: Millis,
): QueueForecast {
  const secondsUntil = (at: Millis | undefined) => (at === undefined ? null : Math.max(0, at - now) / 1000);
  return {
    test_files: list.test_files - (list.proved?.test_files ?? 0),
    unknown_files,
    share: end && decisionOf(batch)!.share,
    ends_in: secondsUntil(end?.at),
    earliest_in: secondsUntil(end?.earliest),
    latest_in: secondsUntil(end?.latest),
    ...(cutting && { cutting }),
  };
}

function answerNoQueue(request: Request, { request: asked, planned }: PreparedQueue, encoding: QueueEncoding): Answer {
  // The request brought a list because there was a queue to compare it with.
  if (planned.sent) throw refusals.expired('queue');
  if (!asked.isFirstRequest) throw apiErrors.queueNotFound(encoding.ciRun);
  return answerConnectFailed(request, asked, encoding);
}

function answerOtherList(
  request: Request,
  { request: asked, planned: { sent } }: PreparedQueue,
  { list }: QueueInfo,
  encoding: QueueEncoding,
): Answer {
  // A node that only connects must send its list first. Then it gets the difference.
  if (asked.isFirstRequest && !sent) return answerConnectFailed(request, asked, encoding);
  const difference = sent
    ? describeLists('queue', list, sent)
    : `the queue was made of another list, of ${pluralize(list!.test_files, 'test file')}`;
  throw apiErrors.listDiffers('queue', difference);
}

function answerConnectFailed({ wantsText }: Request, asked: QueueRequest, encoding: QueueEncoding): Answer {
  return wantsText ? codeLine(CONNECT_FAILED.code) : json(200, encoding.connectFailed(asked));
}

/** The node has the batch only if the answer was written. */
function settleBatch({ store, now, log }: Context, key: QueueKey, { seq }: Batch, ok: boolean): void {
  void orElse(
    () => settle(store, key, seq, ok, now()),
    err => log.error({ err, ok }, 'could not record whether a batch was delivered'),
  );
}

function batchLines(batch: Batch, files: Buffer, encoding: QueueEncoding): Answer {
  const paths = filesToRun(batch, files).map(({ path }) => path);
  return lines(paths, encoding.textHeaders(batch));
}

/** Records for nodes that fell silent, once the ends of their leases are on disk. */
async function recordSilentNodes(
  { store, summarizer, log, now }: Context,
  key: QueueKey,
  { queue, endedLeases }: Pulled,
  saved: Promise<void> | null,
): Promise<void> {
  const expired = endedLeases.filter(({ lease }) => lease === 'expired');
  if (expired.length === 0) return;
  try {
    await saved;
    const { own } = await batchesOf(store.queues, queue.id);
    for (const ended of expired) {
      const files = await recordSilent(store, key, queue.id, own, ended, now());
      if (files === 0) continue;
      summarizer.recorded(key.project, key.build);
      log.info({ queue: queue.name, node: ended.node_index, files }, 'recorded files that had passed on a silent node');
    }
  } catch (err) {
    log.error({ err, queue: queue.name }, 'could not record files that had passed on silent nodes');
  }
}

/** Counts and logs what a pull changed, and notes what the queue learned. Of the public side of a project nothing counts, and nothing is learned. */
function observe({ store, log, metrics }: Context, project: number, { queue, batch, endedLeases, isNewBatch, observed }: Pulled): void {
  for (const { seq, node_index: node, test_files: files, lease } of endedLeases) {
    if (lease === 'closed') continue;
    if (lease !== 'returned' && !isPublicSide(project)) metrics.countReassignedBatch();
    log.warn({ queue: queue.name, node, batch: seq, files }, LEASE_MESSAGES[lease]);
  }
  if (isPublicSide(project)) return;
  if (observed) void store.queues.learn(project, 'queue', observed);
  if (isNewBatch) metrics.countBatch(batch!.files.length);
}

const LEASE_MESSAGES = {
  expired: 'lease expired; batch returned to the queue',
  restarted: 'node restarted; batch returned to the queue',
  returned: 'node returned after its lease expired',
  cancelled: 'node cancelled; batch returned to the queue',
};

const NONE: TestPathsAnswer = { failed_paths: [] };

async function failedOnBranch(context: Context, request: Request): Promise<Answer> {
  const { store, jobs } = context;
  const asker = await askerOf(context, request);
  const { branch } = toTestPathsQuery(decodeQuery(request.query));
  const build = await newestBuild(store.builds, asker.project, { branch });
  const queue = build && (await store.queues.newest(asker.project, build));
  if (!queue) return json(200, NONE);
  // Always read in a worker thread, because their number is unknown.
  return { status: 200, body: (await jobs.read('failedTestPaths', { id: queue.id, list: queue.list }, asker)).json };
}

export const queues = [
  post('/v1/queues/queue', (context, request) => answerPull(context, request, version1), {
    operationId: 'pullFromQueue',
    tag: 'Queue mode',
    isOpenToPublic: true,
    summary: 'Connect to the queue of a build, create it, or pull the next batch.',
    description:
      'Connect first. If there is no queue yet, send `attempt_connect_to_queue: false` and all test files. Then pull with both set to `false` until a batch is empty. A pull from an unknown queue gets a 422, never an empty batch.',
    body: {
      schemas: ['QueueMessage'],
      example: {
        ...example.node,
        node_build_id: '1',
        can_initialize_queue: true,
        attempt_connect_to_queue: false,
        test_files: example.listedFiles,
      },
    },
    responses: testFileResponses(
      {
        schemas: ['QueueAnswer', 'ConnectFailed'],
        example: { queue_name: 'c0ffee', build_subset_id: null, test_files: example.timedFiles },
      },
      'A batch, empty at the end of the queue, or a code if there is no queue yet.',
    ),
  }),
  post('/v2/queues/queue', (context, request) => answerPull(context, request, version2), {
    operationId: 'pullFromTestQueue',
    tag: 'Queue mode',
    isOpenToPublic: true,
    summary: 'Use the same queues with a client that reports the outcome of each batch.',
    description:
      'A pull sends the `batch_id` of the previous batch and what failed in it. A restarted process first gets the test files of its node that failed or were not reported as run.',
    body: {
      schemas: ['TestQueueMessage'],
      example: {
        ...example.node,
        test_queue_id: '1',
        node_uuid: example.id,
        batch_index: 0,
        can_initialize_queue: true,
        attempt_connect_to_queue: false,
        paths: example.paths,
      },
    },
    responses: {
      ...testFileResponses(
        { schemas: ['TestQueueAnswer', 'ConnectFailed'], example: { paths: example.paths, batch_id: 1 } },
        'A batch, empty at the end of the queue, or a code if there is no queue yet.',
        'X-Ballast-Batch-Id',
      ),
      '409': refusal('The request has a `test_files_digest`, and the queue was made from another list.'),
    },
  }),
  post('/v2/queues/heartbeat', renewLease, {
    bodyBytes: limits.heartbeatBytesPerRequest,
    operationId: 'sendHeartbeat',
    tag: 'Queue mode',
    isOpenToPublic: true,
    summary: 'Say that the process of a node works on its batch.',
    description:
      'Send one every 15 seconds while a batch runs, if no pull comes meanwhile, and `sends_heartbeats` in each pull. When a node that does so is silent for longer than `BALLAST_LEASE_SECONDS`, its test files go to other nodes.',
    body: { schemas: ['HeartbeatMessage'], example: { ...example.node, test_queue_id: '1', node_uuid: example.id } },
    responses: {
      '200': response('When the lease ends.', { schemas: ['HeartbeatAnswer'], example: { lease_ends_in: 90 } }),
      '409': refusal('The process has no batch, or another process of the node has begun.'),
    },
  }),
  post('/v2/queues/cancel', cancelNode, {
    operationId: 'cancelNode',
    tag: 'Queue mode',
    isOpenToPublic: true,
    summary: 'Say that the process of a node ends, because its CI system cancels it.',
    description:
      'Its test files go to the nodes that pull next. Say it at once, and again with `batch_id` and `failed_paths` when it is known what passed. The process gets no more files; another process of the node works again. When all nodes that work on a queue have said so, its CI run has ended as cancelled.',
    body: {
      schemas: ['CancelMessage'],
      example: { ...example.node, test_queue_id: '1', node_uuid: example.id, batch_id: 1, failed_paths: [] },
    },
    responses: { '200': response('Whether it was noted.', { schemas: ['CancelAnswer'], example: { is_noted: true } }) },
  }),
  get('/v2/test_paths', failedOnBranch, {
    operationId: 'listFailedTestPaths',
    tag: 'Queue mode',
    summary: 'List what failed in the newest build of a branch.',
    description: 'Only clients of version 2 report failures.',
    query: 'TestPathsQuery',
    responses: { '200': response('Test files, or test cases in them.', { schemas: ['TestPathsAnswer'] }) },
  }),
];
