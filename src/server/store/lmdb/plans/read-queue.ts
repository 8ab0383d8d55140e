import { applyChange, type QueueInfo } from '../../../engine/ports/queues.js';
import type { Batch } from '../../../engine/queue/batch.js';
import { Queue } from '../../../engine/queue/queue.js';
import { decodeChange } from '../../codecs/queue-changes.js';
import type { CachedQueue, QueueOptions } from '../../queue-cache.js';
import type { Parts } from '../parts.js';
import type { QueueRecord } from '../records.js';
import { partOf } from './plans.js';

/** Reads a queue back; null: it expired. */
export function readQueue(parts: Parts, id: string, options: QueueOptions): CachedQueue | null {
  const record = parts.queues.get(id);
  return record ? openQueue(id, record, partOf(parts, id, 'weights')!, batchesOf(parts, id), options) : null;
}

/** A queue in memory. @param weights of its files, which are kept */
export function openQueue(
  id: string,
  record: QueueRecord,
  weights: Float64Array,
  batches: readonly Batch[],
  { pullCost, lease }: QueueOptions,
): CachedQueue {
  const outlook = { nodeTotal: record.node_total, pullCost, isGuessed: record.guessed, learned: record.learned };
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
