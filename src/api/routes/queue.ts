import { apiErrors } from '../../api-error.js';
import type { NodeKey } from '../../engine/build-key.js';
import { beginningOf, isAfter } from '../../engine/moment.js';
import type { OpenQueue, Verdict } from '../../engine/ports/queues.js';
import type { Batch } from '../../engine/queue/batch.js';
import type { Answer, Request } from '../../http/request.js';
import type { LmdbStore } from '../../store/lmdb/store.js';
import { type PreparedQueue, pathsIn } from '../../workers/prepare.js';
import { json, projectOfHeader } from '../answer.js';
import type { Context } from '../context.js';
import { codeLine, lines } from '../lines.js';
import { initializes, type QueueAnswer } from '../messages/queue.js';
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
    const wantsLastSplit = can_initialize_queue && (fixed_queue_split || open.info.repeats);
    const asked = {
      node_index,
      run: key.digest,
      batch_uuid: message.batch_uuid ?? null,
      isRetry: request.retryCount > 0,
      hasLeft: request.hasLeft,
      starts: can_initialize_queue,
      ...(can_initialize_queue && { runs_before: store.builds.find(project, message)?.recorded ?? 0 }),
      wantsLastSplit,
      recordedSubset: wantsLastSplit ? lastRunId(store, project, message, open) : null,
    };
    return dispatch(context, open, asked, at);
  };
  const { handed, made } = await pullOrCreate(context, key, sent, pull, () => queueToPull(context, prepared, at), at);
  if (!handed) {
    if (initializes(message)) throw apiErrors.expiredMeanwhile('queue');
    if (!can_initialize_queue) throw apiErrors.queueUnknown('node_build_id');
    return request.wantsText ? codeLine(connectFailed.code) : json(200, { queue_name: key.digest, ...connectFailed });
  }
  const { open, batch } = handed;
  const { name } = open.info;
  if (request.wantsText)
    return batch ? withDeliveryReceipt(context, key, batch, () => lines(pathsIn(store.queues.files(open.id, batch.files)))) : lines([]);
  if (takesNothing) return endOfQueue(name, made?.isNew ? null : buildsUrl(context, request, message));
  return batch ? withDeliveryReceipt(context, key, batch, () => ({ status: 200, body: batchBody(store, open, batch) })) : endOfQueue(name);
}

/** Makes the queue that a request asks for when there is none; null when it asks for none. */
async function queueToPull(context: Context, { message, key, plan }: PreparedQueue, at: number): Promise<Made | null> {
  if (message.can_initialize_queue && message.fixed_queue_split) {
    if (await context.store.queues.repeat(key, at)) return { isNew: false };
  }
  return plan && createQueue(context, key, plan, at);
}

function batchBody(store: LmdbStore, { id, info }: OpenQueue, { build_subset_id, files }: Batch): Buffer {
  // Based on a recorded subset, a batch is no queue's.
  const head = JSON.stringify({ queue_name: build_subset_id === null ? info.name : null, build_subset_id });
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"test_files":`), store.queues.files(id, files), Buffer.from('}')]);
}

function lastRunId({ builds }: LmdbStore, project: number, node: NodeKey, { info }: OpenQueue): string | null {
  const build = builds.find(project, node);
  const last = build && builds.runs(build.number, node.node_index).at(-1);
  return last && isAfter({ ordinal: last.ordinal, at: last.created_at }, beginningOf(info)) ? last.id : null;
}

function endOfQueue(queue_name: string, url: string | null = null): Answer {
  const answer: QueueAnswer = { queue_name, build_subset_id: null, test_files: [], ...(url && { url }) };
  return json(200, answer);
}
