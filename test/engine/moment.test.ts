import { expect, it } from 'vitest';
import { beginningOfQueue } from '../../src/engine/moment.js';
import type { QueueInfo } from '../../src/engine/ports/queues.js';

const LIST = { digest: 'digest', test_files: 1 };
const QUEUE: QueueInfo = { id: 'q', name: 'q', node_total: 2, copied: null, created_at: 10, runs_before: 1, list: LIST, used_at: 90 };

it('recorded runs count for a queue from its creation, and for a copy from the time of the copy', () => {
  expect(beginningOfQueue(QUEUE)).toEqual({ runs_before: 1, at: 10 });
  expect(beginningOfQueue({ ...QUEUE, copied: { runs_before: 3, at: 50 } })).toEqual({ runs_before: 3, at: 50 });
});
