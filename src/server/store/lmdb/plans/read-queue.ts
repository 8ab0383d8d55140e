import { applyChange, type NewQueue, type QueueInfo } from '../../../engine/ports/queues.js';
import type { Batch } from '../../../engine/queue/batch.js';
import { Queue } from '../../../engine/queue/queue.js';
import { allFirst } from '../../../planning/batching/first-files.js';
import { decodeChange } from '../../codecs/queue-changes.js';
import type { CachedQueue, QueueOptions } from '../../queue-cache.js';
import type { Parts } from '../parts.js';
import type { QueueRecord } from '../records.js';
import { partOf } from './plans.js';

/** Reads a queue back; null: it expired. */
export function readQueue(parts: Parts, id: string, options: QueueOptions): CachedQueue | null {
  const record = parts.queues.get(id);
  if (!record) return null;
  const plan = { weights: partOf(parts, id, 'weights')!, first: partOf(parts, id, 'first') };
  return openQueue(id, record, plan, batchesOf(parts, id), options);
}

/** A queue in memory. @param plan its weights are kept */
export function openQueue(
  id: string,
  record: QueueRecord,
  { weights, first }: Pick<NewQueue, 'weights' | 'first'>,
  batches: readonly Batch[],
  { pullCost, lease }: QueueOptions,
): CachedQueue {
  const { node_total: nodeTotal, guessed: isGuessed, learned } = record;
  const outlook = { nodeTotal, pullCost, isGuessed, learned, ...(first && { first: allFirst(first) }) };
  return { id, info: toQueueInfo(id, record), queue: new Queue(weights, outlook, batches, lease), bytes: 0, saving: null };
}

export function toQueueInfo(id: string, { guessed: _g, learned: _l, build: _b, ...info }: QueueRecord): QueueInfo {
  return { id, ...info };
}

/** The batches of a queue that are on disk, oldest first. */
export function batchesOf({ batches: saved, journal }: Pick<Parts, 'batches' | 'journal'>, id: string): Batch[] {
  const batches = new Map<number, Batch>();
  for (const { value } of saved.getRange({ start: [id, 0], end: [id, Infinity] })) {
    for (const change of value) applyChange(batches, decodeChange(change));
  }
  for (const change of journal.pendingOf(id)) applyChange(batches, change);
  return [...batches.values()].sort((a, b) => a.seq - b.seq);
}
