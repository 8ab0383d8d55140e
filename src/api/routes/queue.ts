import { randomUUID } from 'node:crypto';
import { apiErrors } from '../../api-error.js';
import { beginningOf } from '../../engine/moment.js';
import type { Batch } from '../../engine/queue/batch.js';
import type { Answer, Request } from '../../http/request.js';
import { buildIdKey, lastSubsetId, runsRecordedOf } from '../../store/lmdb/builds.js';
import { listOfFiles, pathsOf } from '../../store/lmdb/file-blocks.js';
import type { Store } from '../../store/lmdb/open.js';
import type { OpenQueue, Verdict } from '../../store/lmdb/open-queue.js';
import type { PreparedQueue } from '../../workers/prepare.js';
import { json, projectOfHeader } from '../answer.js';
import type { Context } from '../context.js';
import { codeLine, lines } from '../lines.js';
import { isInitialization, type QueueAnswer } from '../messages/queue.js';
import {
  buildsUrl,
  connectFailed,
  createQueue,
  type Dispatched,
  dispatch,
  type Made,
  pullOrCreate,
  withDeliveryReceipt,
} from './dispatch.js';

/** POST /queues/queue: connects to the queue of a build, creates it, or pulls its next batch. */
export async function queueForNode(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, now } = context;
  const { project, prepared } = await jobs.post('prepareQueue', request, projectOfHeader(context, request));
  const { message, key, sent } = prepared;
  const { node_index, can_initialize_queue, fixed_queue_split } = message;
  // A pull that skips itself would be taken for the end of the queue.
  const takesNothing = message.skip_pull && can_initialize_queue;

  const at = now();
  const pull = (open: OpenQueue): Verdict<Dispatched> => {
    if (takesNothing) {
      open.queue.begins(node_index);
      return { value: { open, batch: null }, changes: open.queue.takeChanged() };
    }
    const wantsLastSplit = can_initialize_queue && (fixed_queue_split || open.record.repeats);
    const asked = {
      node_index,
      run: key,
      batch_uuid: message.batch_uuid ?? null,
      isRetry: request.retryCount > 0,
      hasLeft: request.hasLeft,
      starts: can_initialize_queue,
      ...(can_initialize_queue && { runs_before: runsRecordedOf(store, buildIdKey(project, message)) }),
      wantsLastSplit,
      recordedSubset: wantsLastSplit ? lastSubsetId(store, project, message, beginningOf(open.record)) : null,
    };
    return dispatch(context, open, asked, at);
  };
  const { handed, made } = await pullOrCreate(context, key, sent, pull, () => queueToPull(context, project, prepared, at), at);
  if (!handed) {
    if (isInitialization(message)) throw apiErrors.expired('queue');
    if (!can_initialize_queue) throw apiErrors.queueNotFound('node_build_id');
    return request.wantsText ? codeLine(connectFailed.code) : json(200, { queue_name: key, ...connectFailed });
  }
  const { open, batch } = handed;
  const { name } = open.record;
  if (request.wantsText)
    return batch ? withDeliveryReceipt(context, key, batch, () => lines(pathsOf(store, open.id, batch.files))) : lines([]);
  if (takesNothing) return endOfQueue(name, made?.isNew ? null : buildsUrl(context, request, message));
  return batch ? withDeliveryReceipt(context, key, batch, () => ({ status: 200, body: batchBody(store, open, batch) })) : endOfQueue(name);
}

/** Makes the queue that a request asks for when there is none; null when it asks for none. */
async function queueToPull(context: Context, project: number, { message, key, plan }: PreparedQueue, at: number): Promise<Made | null> {
  if (message.can_initialize_queue && message.fixed_queue_split) {
    const repeated = await context.queues.repeat(key, buildIdKey(project, message), randomUUID(), at);
    if (repeated !== null) return { isNew: false };
  }
  return plan && createQueue(context, project, key, message, plan, at);
}

function batchBody(store: Store, { id, record }: OpenQueue, { build_subset_id, files }: Batch): Buffer {
  // Based on a recorded subset, a batch is no queue's.
  const head = JSON.stringify({ queue_name: build_subset_id === null ? record.name : null, build_subset_id });
  return listOfFiles(store, id, files, `${head.slice(0, -1)},"test_files":`, '}');
}

function endOfQueue(queue_name: string, url: string | null = null): Answer {
  const answer: QueueAnswer = { queue_name, build_subset_id: null, test_files: [], ...(url && { url }) };
  return json(200, answer);
}
