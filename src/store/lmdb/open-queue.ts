import type { Batch } from '../../engine/queue/batch.js';
import type { Lease } from '../../engine/queue/leases.js';
import { Queue } from '../../engine/queue/queue.js';
import type { QueueOutlook } from '../../planning/batching/batch-weight.js';
import { weightsOfQueue } from './file-blocks.js';
import type { Change } from './journal.js';
import type { Parts } from './open.js';
import type { QueueRecord } from './records.js';

/** A queue in memory: a cache over the store, read back when asked for. */
export interface OpenQueue {
  readonly id: string;
  readonly record: QueueRecord;
  readonly queue: Queue;
  /** What the cache counts for it: that of some batches before. */
  bytes: number;
  /** Of its last change; null: that is on disk. */
  saving: Promise<void> | null;
}

/** What a verb returns, and what it changed. */
export interface Verdict<T> {
  value: T;
  changes: readonly Change[];
}

/** Rough bytes, measured: weights, state, maps, batches. */
const BYTES_PER_QUEUE = 2048;
const BYTES_PER_FILE = 32;
const BYTES_PER_NODE = 400;
const BYTES_PER_BATCH = 600;
const BYTES_PER_FILE_HANDED = 8;
/** The most memory that an open queue takes. */
const BYTES_PER_CHARACTER = 2;

/** What it takes in memory, roughly. */
export function bytesOf({ record, queue }: OpenQueue): number {
  const characters = queue.text.characters + (record.people.user_seat?.length ?? 0) + (record.people.build_author?.length ?? 0);
  return (
    BYTES_PER_QUEUE +
    BYTES_PER_NODE * record.node_total +
    BYTES_PER_FILE * queue.weights.length +
    BYTES_PER_BATCH * queue.batchCount +
    BYTES_PER_FILE_HANDED * queue.filesHanded +
    BYTES_PER_CHARACTER * characters
  );
}

export interface QueueOptions {
  /** A weight. */
  pullCost: number;
  /** Null: nodes may be silent for ever. */
  lease: Lease | null;
}

/** Null when it expired. */
export function readQueue(store: Parts, id: string, { pullCost, lease }: QueueOptions): OpenQueue | null {
  const record = store.queues.get(id);
  if (!record) return null;
  const queue = new Queue(weightsOfQueue(store, id), outlookOf(record, pullCost), batchesOf(store, id), lease);
  return { id, record, queue, bytes: 0, saving: null };
}

/** @param pullCost a weight */
function outlookOf({ node_total, guessed }: QueueRecord, pullCost: number): QueueOutlook {
  return { nodeTotal: node_total, pullCost, isGuessed: guessed };
}

/** The batches of a queue that are handed out, oldest first, as far as they are on disk. */
export function batchesOf(store: Parts, id: string): Batch[] {
  const batches = new Map<number, Batch>();
  const apply = (change: Change) => {
    if (typeof change === 'number') batches.delete(change);
    else batches.set(change.seq, change);
  };
  for (const { value } of store.batches.getRange({ start: [id, 0], end: [id, Infinity] })) value.forEach(apply);
  store.journal.pendingOf(id).forEach(apply);
  return [...batches.values()].sort((a, b) => a.seq - b.seq);
}
