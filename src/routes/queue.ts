import { randomUUID } from 'node:crypto';
import type { Batch } from '../engine/batch.js';
import { faults } from '../fault.js';
import type { Answer, Request } from '../http/request.js';
import type { PreparedQueue } from '../jobs/prepare.js';
import { buildIdKey, lastSubsetId } from '../store/builds.js';
import { listOfFiles } from '../store/file-blocks.js';
import type { Store } from '../store/open.js';
import type { OpenQueue, Verdict } from '../store/open-queue.js';
import type { Queues } from '../store/queues.js';
import type { BuildKey } from '../wire/build-key.js';
import { initializes } from '../wire/queue.js';
import { baseUrl, json, projectOfHeader } from './answer.js';
import type { Context } from './context.js';

/** POST /queues/queue: connects to the queue of a build, creates it, or pulls its next batch. */
export async function queueForNode(context: Context, request: Request): Promise<Answer> {
  const { store, queues, jobs, now, log } = context;
  const { project, prepared } = await jobs.post('prepareQueue', request, projectOfHeader(context, request));
  const { message, key } = prepared;
  const { node_index, can_initialize_queue, fixed_queue_split } = message;
  // A pull that skips itself would be taken for the end of the queue.
  const takesNothing = message.skip_pull && can_initialize_queue;

  const at = now();
  const pull = (open: OpenQueue): Verdict<Pulled> => {
    if (takesNothing) {
      open.queue.begins(node_index);
      return { value: { open, batch: null }, changes: open.queue.takeChanged() };
    }
    const wantsLastSplit = can_initialize_queue && (fixed_queue_split || open.record.repeats);
    const handed = open.queue.pull(
      {
        node_index,
        run: key,
        batch_uuid: message.batch_uuid ?? null,
        isRetry: request.retryCount > 0,
        hasLeft: request.hasLeft,
        starts: can_initialize_queue,
        wantsLastSplit,
        recordedSubset: wantsLastSplit ? lastSubsetId(store, project, message, open.record.created_at) : null,
      },
      at,
    );
    const changed = open.queue.takeChanged();
    for (const { seq, node_index: node, files, lease } of changed) {
      const told = { queue: open.record.name, node, batch: seq, files: files.length };
      if (lease === 'late') log.warn(told, 'a silent node came back');
      else if (lease === 'lost') log.warn(told, 'a silent node: its batch goes to others');
      else if (lease === 'restarted') log.warn(told, 'a node began anew: its batch goes to whoever asks');
    }
    return { value: { open, batch: handed?.batch ?? null }, changes: handed?.isNew ? [...changed, handed.batch] : changed };
  };
  let pulled = await queues.update(key, pull, at);
  const made = pulled ? null : await makeQueue(queues, project, prepared, at);
  if (made) pulled = await queues.update(key, pull, at);
  if (!pulled) {
    if (initializes(message)) throw faults.expiredMeanwhile('queue');
    return can_initialize_queue ? connectFailed(key) : endOfQueue(key);
  }
  const { open, batch } = pulled;
  const { name } = open.record;
  if (takesNothing) return endOfQueue(name, made?.isNew ? null : buildsUrl(context, request, message));
  if (!batch) return endOfQueue(name);
  const written = (ok: boolean) => {
    queues.settle(key, batch.seq, ok).catch((err: unknown) => log.error({ err, ok }, 'a batch was not settled'));
  };
  try {
    return { status: 200, body: batchBody(store, open, batch), written };
  } catch (error) {
    written(false);
    throw error;
  }
}

/** Makes the queue that a request asks for when there is none; null when it asks for none. */
async function makeQueue(
  queues: Queues,
  project: number,
  { message, key, plan }: PreparedQueue,
  at: number,
): Promise<{ isNew: boolean } | null> {
  if (message.can_initialize_queue && message.fixed_queue_split) {
    const repeated = await queues.repeat(key, buildIdKey(project, message), randomUUID(), at);
    if (repeated !== null) return { isNew: false };
  }
  if (!plan) return null;
  const { guessed, people } = plan;
  const { node_total } = message;
  const times = { created_at: at, used_at: at };
  const build = buildIdKey(project, message);
  return queues.create(key, randomUUID(), { v: 1, name: key, node_total, guessed, repeats: false, people, ...times, build }, plan);
}

interface Pulled {
  open: OpenQueue;
  /** Null: there is none for the node. */
  batch: Batch | null;
}

function batchBody(store: Store, { id, record }: OpenQueue, { build_subset_id, files }: Batch): Buffer {
  // Based on a recorded subset, a batch is no queue's.
  const head = JSON.stringify({ queue_name: build_subset_id === null ? record.name : null, build_subset_id });
  return listOfFiles(store, id, files, `${head.slice(0, -1)},"test_files":`, '}');
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
