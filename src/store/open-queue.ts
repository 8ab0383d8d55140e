import { type Batch, Queue } from '../engine/queue.js';
import type { QueueOutlook } from '../plan/queue/batch.js';
import type { Store } from './open.js';
import type { QueueRecord } from './records.js';

/** A queue in memory: a cache over the store, read back when asked for. */
export interface OpenQueue {
  record: QueueRecord;
  queue: Queue;
  /** Settled when what was changed last is on disk; and how many changes are not. */
  saved: Promise<void>;
  unsaved: number;
}

/** What a verb returns, and the entry of the journal that it wrote or erased. */
export interface Verdict<T> {
  value: T;
  journaled?: Batch;
  erased?: number;
}

/** Nothing is on its way. */
export const SAVED = Promise.resolve();

/** Rough bytes that a queue takes in memory: weights, state, journal, maps. */
const BYTES_PER_QUEUE = 2048;
const BYTES_PER_FILE = 24;
const BYTES_PER_NODE = 400;

/** What it takes in memory, roughly. */
export function bytesOf({ record, queue }: OpenQueue): number {
  return BYTES_PER_QUEUE + BYTES_PER_NODE * record.node_total + BYTES_PER_FILE * queue.weights.length;
}

/** @param pullCost a weight */
export function outlookOf({ node_total, guessed }: QueueRecord, pullCost: number): QueueOutlook {
  return { nodeTotal: node_total, pullCost, isGuessed: guessed };
}

/** Within a transaction. Nothing of the queue is being written: else it would be in memory. Null when it expired. */
export function readQueue(store: Store, id: string, pullCost: number): OpenQueue | null {
  const record = store.queues.get(id);
  if (!record) return null;
  const weights = store.blobs.get([id, 'weights'])!;
  const journal = [...store.batches.getRange(journalOf(id))].map(({ value }) => value);
  const aligned = new Float64Array(new Uint8Array(weights).buffer, 0, weights.length / 8);
  return { record, queue: new Queue(aligned, outlookOf(record, pullCost), journal), saved: SAVED, unsaved: 0 };
}

export function journalOf(id: string): { start: [string, number]; end: [string, number] } {
  return { start: [id, 0], end: [id, Infinity] };
}
