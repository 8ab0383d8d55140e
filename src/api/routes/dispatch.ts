import { randomUUID } from 'node:crypto';
import type { Batch, Pull } from '../../engine/queue/batch.js';
import type { Answer, Request } from '../../http/request.js';
import { buildIdKey } from '../../store/lmdb/builds.js';
import type { OpenQueue, Verdict } from '../../store/lmdb/open-queue.js';
import { noteListOfQueue, type SentList } from '../../store/lmdb/other-lists.js';
import type { QueuePlan } from '../../store/lmdb/queues.js';
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
    if (lease === 'lost' || lease === 'restarted') metrics.countReassignedBatch();
    const told = { queue: open.record.name, node, batch: seq, files: files.length };
    if (lease === 'late') log.warn(told, 'a silent node came back');
    else if (lease === 'lost') log.warn(told, 'a silent node: its batch goes to others');
    else if (lease === 'restarted') log.warn(told, 'a node began anew: its batch goes to whoever asks');
  }
  if (handed?.isNew) {
    changes.push(handed.batch);
    metrics.countBatch(handed.batch.files.length);
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
  { store, queues }: Context,
  key: string,
  sent: SentList | null,
  pull: (open: OpenQueue) => Verdict<Dispatched>,
  make: () => Promise<Made | null>,
  at: number,
): Promise<{ handed: Dispatched | null; made: Made | null }> {
  if (sent) await noteListOfQueue(store, key, sent);
  const handed = await queues.update(key, pull, at);
  if (handed) return { handed, made: null };
  const made = await make();
  if (sent && made?.isNew === false) await noteListOfQueue(store, key, sent);
  return { handed: made && (await queues.update(key, pull, at)), made };
}

/** The answer that brings a batch: whether it was written decides who has that. */
export function withDeliveryReceipt({ queues, log }: Context, key: string, { seq }: Batch, answer: () => Answer): Answer {
  const written = (ok: boolean) => {
    queues.settle(key, seq, ok).catch((err: unknown) => log.error({ err, ok }, 'a batch was not settled'));
  };
  try {
    const told = answer();
    told.onEnd = written;
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
export function createQueue(
  { queues }: Context,
  project: number,
  key: string,
  build: BuildKey,
  plan: QueuePlan,
  at: number,
): Promise<Made> {
  const { guessed, people, list } = plan;
  const { node_total } = build;
  const times = { created_at: at, used_at: at };
  return queues.create(
    key,
    randomUUID(),
    { v: 1, name: key, node_total, guessed, repeats: false, people, list, ...times, build: buildIdKey(project, build) },
    plan,
  );
}

/** The code by which clients know that they are to send their test files. */
export const connectFailed: ConnectFailed = {
  message: 'There is no queue for this build yet: send the test files to initialise it.',
  code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED',
};
