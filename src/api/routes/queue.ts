import type { QueueKey } from '../../engine/keys.js';
import type { QueueInfo } from '../../engine/ports/queues.js';
import type { Batch } from '../../engine/queue/batch.js';
import { type Pulled, pull, type QueueRequest, settle } from '../../engine/queues.js';
import { refusals } from '../../engine/refusal.js';
import { orElse, type Soon, whenKnown } from '../../engine/soon.js';
import { describeLists } from '../../engine/suites/compare-lists.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { apiErrors } from '../errors.js';
import type { PreparedBy } from '../jobs.js';
import { codeLine, json, lines } from '../json.js';
import { buildsUrl } from '../links.js';
import { prepare } from '../prepare.js';
import { CONNECT_FAILED, filesToRun, type QueueEncoding, version1, version2 } from './queue-encoding.js';

type PreparedQueue = PreparedBy<'prepareQueue'>;

/** POST /v1/queues/queue: connects to the queue of a CI run, creates it, or pulls its next batch. */
export function queueForNode(context: Context, request: Request): Soon<Answer> {
  return answerPull(context, request, version1);
}

/** POST /v2/queues/queue: the same queues, for clients that report the outcome of each batch. */
export function testQueueForNode(context: Context, request: Request): Soon<Answer> {
  return answerPull(context, request, version2);
}

function answerPull(context: Context, request: Request, encoding: QueueEncoding): Soon<Answer> {
  const { dailyBytes } = context;
  return whenKnown(prepare(context, encoding.job, request), ({ project, prepared }) => {
    const { plan, sent } = prepared.planned;
    if (plan) dailyBytes.assertRoom(project, context.now());
    const caller = { isRetry: request.retryCount > 0, hasLeft: request.hasLeft };
    const pulling = pull(context.store, prepared.request, prepared.planned, caller, context.now());
    return whenKnown(pulling, ({ value, saved }) => {
      // A batch keeps texts of its request. A request with a list of test files stores the plan, if it is the first.
      if (!sent && value?.isNewBatch) dailyBytes.add(project, bytesOf(request), context.now());
      if (plan && value?.isNewQueue) dailyBytes.add(project, plan.files.bytes.length, context.now());
      const answering = value ? answerPulled(context, request, prepared, value, encoding) : answerNoQueue(request, prepared, encoding);
      return whenKnown(answering, answer => {
        answer.saved = saved;
        return answer;
      });
    });
  });
}

function bytesOf({ body }: Request): number {
  return body.reduce((sum, { length }) => sum + length, 0);
}

function answerPulled(context: Context, request: Request, prepared: PreparedQueue, pulled: Pulled, encoding: QueueEncoding): Soon<Answer> {
  const { queue, batch, isOtherList } = pulled;
  const { request: asked, echo } = prepared;
  observe(context, pulled);
  if (isOtherList) return answerOtherList(request, prepared, queue, encoding);
  if (batch) return answerBatch(context, request, prepared, queue, batch, encoding);
  if (request.wantsText) return lines([]);
  const url = asked.takesNothing ? buildsUrl(context, request, asked.key.build) : null;
  return json(200, encoding.empty(pulled, url, echo));
}

function answerBatch(
  context: Context,
  request: Request,
  { request: { key }, echo }: PreparedQueue,
  queue: QueueInfo,
  batch: Batch,
  encoding: QueueEncoding,
): Soon<Answer> {
  return orElse(
    () =>
      whenKnown(context.store.queues.files(queue.id, batch.files), files => {
        const answer = request.wantsText ? batchLines(batch, files, encoding) : encoding.batch(queue, batch, files, echo);
        answer.onEnd = wasSent => settleBatch(context, key, batch, wasSent);
        return answer;
      }),
    error => {
      settleBatch(context, key, batch, false);
      throw error;
    },
  );
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
  const difference = sent ? describeLists('queue', list, sent) : `the queue was made of another list, of ${list!.test_files} test files`;
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

/** Counts and logs what a pull changed. */
function observe({ log, metrics }: Context, { queue, batch, endedLeases, isNewBatch }: Pulled): void {
  for (const { seq, node_index: node, test_files: files, lease } of endedLeases) {
    if (lease === 'closed') continue;
    if (lease !== 'returned') metrics.countReassignedBatch();
    log.warn({ queue: queue.name, node, batch: seq, files }, LEASE_MESSAGES[lease]);
  }
  if (isNewBatch) metrics.countBatch(batch!.files.length);
}

const LEASE_MESSAGES = {
  expired: 'lease expired; batch returned to the queue',
  restarted: 'node restarted; batch returned to the queue',
  returned: 'node returned after its lease expired',
};
