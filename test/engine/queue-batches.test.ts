import { describe, expect, it } from 'vitest';
import type { QueueInfo } from '../../src/engine/ports/queues.js';
import type { Batch } from '../../src/engine/queue/batch.js';
import { beginningOfQueue } from '../../src/engine/queue-batches.js';

const QUEUE: QueueInfo = { id: 'q', name: 'q', node_total: 2, repeats: false, created_at: 10, runs_before: 1, used_at: 90 };
const OF_OLD_COPY = { ...QUEUE, repeats: true };
const BATCH = { handed_at: 70 } as Batch;

describe('recorded runs count for a queue', () => {
  it.each([
    ['from its creation', QUEUE, [BATCH], { runs_before: 1, at: 10 }],
    ['from the time of the copy', { ...OF_OLD_COPY, copied_at: 50, copied_runs_before: 3 }, [BATCH], { runs_before: 3, at: 50 }],
    ['from its first own batch, where that time is unknown', OF_OLD_COPY, [BATCH], { runs_before: null, at: 70 }],
    ['from its last use, where it has no own batch', OF_OLD_COPY, [], { runs_before: null, at: 90 }],
  ])('%s', (_, queue, own, moment) => {
    expect(beginningOfQueue(queue, { own, copied: [] })).toEqual(moment);
  });
});
