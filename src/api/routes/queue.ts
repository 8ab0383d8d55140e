import { apiErrors } from '../../api-error.js';
import type { QueueKey } from '../../engine/keys.js';
import type { QueueInfo } from '../../engine/ports/queues.js';
import type { Batch } from '../../engine/queue/batch.js';
import { type Pulled, pull, type QueueRequest, settle } from '../../engine/queues.js';
import { describeLists, type SentList } from '../../engine/test-file-list.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { json } from '../json.js';
import { codeLine, lines } from '../lines.js';
import { buildsUrl } from '../links.js';
import { prepare } from '../prepare.js';
import { CONNECT_FAILED, filesToRun, type QueueEncoding } from './queue-encoding.js';
import { version1 } from './queue-v1.js';
import { version2 } from './queue-v2.js';

/** POST /v1/queues/queue: connects to the queue of a CI run, creates it, or pulls its next batch. */
export function queueForNode(context: Context, request: Request): Promise<Answer> {
  return answerPull(context, request, version1);
}

/** POST /v2/queues/queue: the same queues, for clients that report the outcome of each batch. */
export function testQueueForNode(context: Context, request: Request): Promise<Answer> {
  return answerPull(context, request, version2);
}

async function answerPull(context: Context, request: Request, encoding: QueueEncoding): Promise<Answer> {
  const { prepared } = await prepare(context, encoding.job, request);
  const { request: asked, planned, echo } = prepared;
  const caller = { isRetry: request.retryCount > 0, hasLeft: request.hasLeft };
  const pulled = await pull(context.store, asked, planned, caller, context.now());
  if (!pulled) return answerNoQueue(request, asked, planned.sent, encoding);
  const { queue, batch, isOtherList } = pulled;
  observe(context, pulled);
  if (isOtherList) return answerOtherList(request, asked, planned.sent, queue, encoding);
  if (!batch) {
    if (request.wantsText) return lines([]);
    const url = asked.takesNothing ? buildsUrl(context, request, asked.key.build) : null;
    return json(200, encoding.empty(pulled, url, echo));
  }
  try {
    const files = await context.store.queues.files(queue.id, batch.files);
    const answer = request.wantsText ? batchLines(batch, files, encoding) : encoding.batch(queue, batch, files, echo);
    answer.onEnd = wasSent => void settleBatch(context, asked.key, batch, wasSent);
    return answer;
  } catch (error) {
    void settleBatch(context, asked.key, batch, false);
    throw error;
  }
}

function answerNoQueue(request: Request, asked: QueueRequest, sent: SentList | null, encoding: QueueEncoding): Answer {
  // The request brought a list because there was a queue to compare it with.
  if (sent) throw apiErrors.expired('queue');
  if (!asked.isFirstRequest) throw apiErrors.queueNotFound(encoding.ciRun);
  return answerConnectFailed(request, asked, encoding);
}

function answerOtherList(
  request: Request,
  asked: QueueRequest,
  sent: SentList | null,
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
async function settleBatch({ store, now, log }: Context, key: QueueKey, { seq }: Batch, ok: boolean): Promise<void> {
  try {
    await settle(store, key, seq, ok, now());
  } catch (err) {
    log.error({ err, ok }, 'could not record whether a batch was delivered');
  }
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
