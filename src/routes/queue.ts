import { randomUUID } from 'node:crypto';
import type { Batch } from '../engine/queue.js';
import { faults } from '../fault.js';
import type { Answer, Request } from '../http/request.js';
import { lastSubsetId } from '../store/builds.js';
import { listOfFiles } from '../store/file-blocks.js';
import type { Store } from '../store/open.js';
import { findLastQueue, findQueue } from '../store/queue-keys.js';
import type { OpenQueue } from '../store/open-queue.js';
import type { QueueRecord } from '../store/records.js';
import type { BuildKey } from '../wire/build-key.js';
import { initializes } from '../wire/queue.js';
import { baseUrl, json, projectOfHeader } from './answer.js';
import type { Context } from './context.js';

/** POST /queues/queue: connects to the queue of a build, creates it, or pulls its next batch. */
export async function queueForNode(context: Context, request: Request): Promise<Answer> {
  const { store, queues, jobs, now, log } = context;
  const { project, prepared } = await jobs.post('prepareQueue', request.body, projectOfHeader(context, request));
  const { message, keys, plan } = prepared;
  const { node_index, node_total, can_initialize_queue, fixed_queue_split } = message;
  // A pull that skips itself would be taken for the end of the queue.
  const takesNothing = message.skip_pull && can_initialize_queue;

  const at = now();
  let id = findQueue(store, keys);
  let isNew = false;
  if (id === null && can_initialize_queue && fixed_queue_split && findLastQueue(store, keys)) {
    id = await queues.repeat(keys, randomUUID(), at);
  }
  if (id === null && plan) {
    const { nodeBuild: name, build } = keys;
    const times = { created_at: at, used_at: at };
    const record: QueueRecord = { v: 1, name, node_total, guessed: plan.guessed, repeats: false, people: plan.people, ...times, build };
    ({ id, isNew } = await queues.create(keys, randomUUID(), record, plan));
  }
  if (id === null) {
    if (initializes(message)) throw faults.expiredMeanwhile('queue');
    return can_initialize_queue ? connectFailed(keys.nodeBuild) : endOfQueue(keys.nodeBuild);
  }

  const queueId = id;
  const pulled = await queues.update(
    queueId,
    open => {
      if (takesNothing) return { value: { open, batch: null } };
      const wantsLastSplit = can_initialize_queue && (fixed_queue_split || open.record.repeats);
      const handed = open.queue.pull(
        {
          node_index,
          run: keys.nodeBuild,
          batch_uuid: message.batch_uuid ?? null,
          isRetry: request.retryCount > 0,
          hasLeft: request.hasLeft,
          starts: can_initialize_queue,
          wantsLastSplit,
          recordedSubset: wantsLastSplit ? lastSubsetId(store, project, message, open.record.created_at) : null,
        },
        at,
      );
      return { value: { open, batch: handed?.batch ?? null }, ...(handed?.isNew && { journaled: handed.batch }) };
    },
    at,
  );
  if (!pulled) throw faults.expiredMeanwhile('queue');
  const { open, batch } = pulled;
  const { name } = open.record;
  if (takesNothing) return endOfQueue(name, isNew ? null : buildsUrl(context, request, message));
  if (!batch) return endOfQueue(name);
  return {
    status: 200,
    body: batchBody(store, queueId, open, batch),
    written: ok => {
      queues.settle(queueId, batch.seq, ok).catch((err: unknown) => log.error({ err, ok }, 'a batch was not settled'));
    },
  };
}

function batchBody(store: Store, id: string, { record }: OpenQueue, { build_subset_id, files }: Batch): string {
  // Based on a recorded subset, a batch is no queue's.
  const head = JSON.stringify({ queue_name: build_subset_id === null ? record.name : null, build_subset_id });
  return `${head.slice(0, -1)},"test_files":${listOfFiles(store, id, files)}}`;
}

/** Where the build that the queue belongs to is seen. */
function buildsUrl(context: Context, request: Request, { branch, commit_hash, node_total }: BuildKey): string {
  const query = new URLSearchParams({ branch, commit_hash, node_total: String(node_total) });
  return `${baseUrl(context, request)}/v1/builds?${query.toString()}`;
}

function endOfQueue(queue_name: string, url: string | null = null): Answer {
  return json(200, { queue_name, build_subset_id: null, test_files: [], ...(url && { url }) });
}

function connectFailed(queue_name: string): Answer {
  return json(200, {
    queue_name,
    message: 'There is no queue for this build yet: send the test files to initialise it.',
    code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED',
  });
}
