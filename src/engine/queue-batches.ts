import { beginningOf, type Moment } from './moment.js';
import type { QueueInfo, Queues } from './ports/queues.js';
import type { Batch } from './queue/batch.js';

/** The batches of a queue in the order of `seq`. */
export interface QueueBatches {
  /** Handed out by the queue itself. */
  own: Batch[];
  /** Copied from the queue that it repeats. */
  copied: Batch[];
}

export async function batchesOf(queues: Queues, id: string): Promise<QueueBatches> {
  const copied = await queues.copiedBatches(id);
  const seqs = new Set(copied.map(({ seq }) => seq));
  return { own: (await queues.batches(id)).filter(({ seq }) => !seqs.has(seq)), copied };
}

/** The moment after which recorded runs count for a queue: its creation, or for a copy the time of the copy. */
export function beginningOfQueue(queue: QueueInfo): Moment {
  return queue.copied ?? beginningOf(queue);
}
