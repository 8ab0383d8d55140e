import type { QueueKey } from '../../engine/keys.js';
import type { NewQueue, OpenQueue, QueueInfo, Verdict } from '../../engine/ports/queues.js';
import type { Batch, Pull } from '../../engine/queue/batch.js';
import { describeLists, differs, type SentList } from '../../engine/test-file-list.js';
import type { Answer, Request } from '../../http/request.js';
import type { LmdbStore } from '../../store/lmdb/store.js';
import { baseUrl } from '../answer.js';
import type { Context } from '../context.js';
import type { BuildKey } from '../messages/build-key.js';
import type { ConnectFailed } from '../messages/queue.js';

/** What a request took from its queue. */
export interface Dispatched {
  open: OpenQueue;
  /** Null: there is none for the node. */
  batch: Batch | null;
}

/** Pulls from a queue. What changed besides is kept, too, and logged. */
export function dispatch({ log, metrics }: Context, open: OpenQueue, pull: Pull, at: number): Verdict<Dispatched> {
  const handed = open.queue.pull(pull, at);
  const changes: Batch[] = [];
  for (const batch of open.queue.takeChanged()) {
    changes.push(batch);
    const { seq, node_index: node, files, lease } = batch;
    if (lease === 'lost' || lease === 'restarted') metrics.lostBatch();
    const told = { queue: open.info.name, node, batch: seq, files: files.length };
    if (lease === 'late') log.warn(told, 'a silent node came back');
    else if (lease === 'lost') log.warn(told, 'a silent node: its batch goes to others');
    else if (lease === 'restarted') log.warn(told, 'a node began anew: its batch goes to whoever asks');
  }
  if (handed?.isNew) {
    changes.push(handed.batch);
    metrics.batch(handed.batch.files.length);
  }
  return { value: { open, batch: handed?.batch ?? null }, changes };
}

/** Whether this request made the queue: another node may have been faster, perhaps with another list. */
export interface Made {
  isNew: boolean;
}

/**
 * Pulls, and where there is no queue makes one first, if the request asks for it. No `handed`: there is none, or it expired meanwhile.
 * @param sent the list of the request, if it brings one; a queue of another list keeps that
 */
export async function pullOrCreate(
  { store: { queues } }: Context,
  key: QueueKey,
  sent: SentList | null,
  pull: (open: OpenQueue) => Verdict<Dispatched>,
  make: () => Promise<Made | null>,
  at: number,
): Promise<{ handed: Dispatched | null; made: Made | null }> {
  if (sent) await noteListOfQueue(queues, key, sent);
  const handed = await queues.update(key, () => null, pull, at);
  if (handed) return { handed, made: null };
  const made = await make();
  if (sent && made?.isNew === false) await noteListOfQueue(queues, key, sent);
  return { handed: made && (await queues.update(key, () => null, pull, at)), made };
}

/** The answer that brings a batch: whether it was written decides who has that. */
export function withDeliveryReceipt({ store: { queues }, log, now }: Context, key: QueueKey, { seq }: Batch, answer: () => Answer): Answer {
  const written = (ok: boolean) => {
    const settle = ({ queue }: OpenQueue) => {
      const change = ok ? queue.delivered(seq) : queue.undelivered(seq) ? seq : null;
      return { value: null, changes: change === null ? [] : [change] };
    };
    queues.update(key, () => null, settle, now()).catch((err: unknown) => log.error({ err, ok }, 'a batch was not settled'));
  };
  try {
    const told = answer();
    told.written = written;
    return told;
  } catch (error) {
    written(false);
    throw error;
  }
}

/** Where the build that the queue belongs to is seen. */
export function buildsUrl(context: Context, request: Request, { branch, commit_hash, node_total }: BuildKey): string {
  const query = new URLSearchParams({ branch, commit_hash, node_total: String(node_total) });
  return `${baseUrl(context, request)}/v1/builds?${query.toString()}`;
}

/** Makes a queue, unless another node did. */
export async function createQueue({ store: { queues } }: Context, key: QueueKey, plan: NewQueue, at: number): Promise<Made> {
  return { isNew: await queues.create(key, plan, at) };
}

async function noteListOfQueue(queues: LmdbStore['queues'], key: QueueKey, sent: SentList): Promise<void> {
  const queue: QueueInfo | null = queues.find(key);
  if (queue && queue.other_list === undefined && differs(queue.list, sent))
    await queues.noteOtherList(queue, describeLists('queue', queue.list, sent));
}

/** The code by which clients know that they are to send their test files. */
export const connectFailed: ConnectFailed = {
  message: 'There is no queue for this build yet: send the test files to initialise it.',
  code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED',
};
