import { expect, it } from 'vitest';
import { queueKey } from '../../src/engine/keys.js';
import { pull, type QueueRequest, settle } from '../../src/engine/queues.js';
import { planQueue } from '../../src/engine/suites/plan-suite.js';
import { suiteOf } from '../../src/engine/suites/suite.js';
import { whenSaved } from '../../src/soon.js';
import { memoryStore } from '../harness/memory-store.js';

const NOW = Date.UTC(2026, 0, 1);
const GRACE = 60_000;
const key = queueKey(1, { commit_hash: 'abc', branch: 'main', node_total: 2 }, 'ci');
const paths = ['a_spec.rb', 'b_spec.rb', 'c_spec.rb', 'd_spec.rb'];
const suite = suiteOf(paths);
const caller = { isRetry: false, hasLeft: () => false };

const requestOf = (node_index: number, isFirstRequest: boolean): QueueRequest => ({
  key,
  node_index,
  listDigest: undefined,
  isFirstRequest,
  takesNothing: false,
  wantsLastSplit: false,
  run: key.digest,
  batch_uuid: null,
  report: null,
});

it('a pull that ends the lease of a silent node reports it, even if the node comes back before the change is on disk', async () => {
  let uptime = 0;
  const lease = { factor: 1, graceMilliseconds: GRACE, uptime: () => uptime, uptimeAt: () => uptime };
  const store = memoryStore({ lease });
  const planned = (await planQueue(store, key, suite, false, { isWorker: false, pullCost: 0 }))!;
  const first = await whenSaved(pull(store, requestOf(0, true), planned, caller, NOW));
  await settle(store, key, first!.batch!.seq, true, NOW);
  uptime = 100 * GRACE;
  // Both are on their way at once.
  const pulls = [requestOf(1, true), requestOf(0, false)].map(request =>
    whenSaved(pull(store, request, { plan: null, sent: null }, caller, NOW)),
  );
  const [other, returned] = await Promise.all(pulls);
  const ended = { seq: first!.batch!.seq, node_index: 0, test_files: first!.batch!.files.length };
  expect(first!.isNewQueue).toBe(true);
  expect(other!.endedLeases).toEqual([{ ...ended, lease: 'expired' }]);
  expect(returned!.endedLeases).toEqual([{ ...ended, lease: 'returned' }]);
});
