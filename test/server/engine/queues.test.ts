import { expect, it } from 'vitest';
import { queueKey } from '../../../src/server/engine/keys.js';
import { pull, type QueueRequest, settle } from '../../../src/server/engine/queues.js';
import { planQueue } from '../../../src/server/engine/suites/plan-suite.js';
import { suiteOf } from '../../../src/server/engine/suites/suite.js';
import { memoryStore } from '../../harness/memory-store.js';
import { waitingCaller, whenSaved } from '../../testbed/waiting.js';

const NOW = Date.UTC(2026, 0, 1);
const GRACE = 60_000;
const key = queueKey(1, { commit_hash: 'abc', branch: 'main', node_total: 2 }, 'ci');
const paths = ['a_spec.rb', 'b_spec.rb', 'c_spec.rb', 'd_spec.rb'];
const suite = suiteOf(paths);

const NO_PLAN = { plan: null, sent: null };

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
  heartbeats: false,
  retriesFailed: false,
  pieces: null,
  told: null,
});

const ASKED = { repeatsNewest: false, sizes: [], pieces: null, failingFirst: false, proved: null };

it('a pull that ends the lease of a silent node reports it, even if the node comes back before the change is on disk', async () => {
  let uptime = 0;
  const lease = { silenceMilliseconds: Infinity, factor: 1, graceMilliseconds: GRACE, uptime: () => uptime, uptimeAt: () => uptime };
  const store = memoryStore({ lease });
  const planned = (await planQueue(store, key, suite, ASKED, { isWorker: false, pullCost: 0, at: NOW }))!;
  const first = await whenSaved(pull(store, requestOf(0, true), planned, waitingCaller, NOW));
  await settle(store, key, first!.batch!.seq, true, NOW);
  uptime = 100 * GRACE;
  // Both are on their way at once.
  const pulls = [requestOf(1, true), requestOf(0, false)].map(request => whenSaved(pull(store, request, NO_PLAN, waitingCaller, NOW)));
  const [other, returned] = await Promise.all(pulls);
  const ended = { seq: first!.batch!.seq, node_index: 0, test_files: first!.batch!.files.length };
  expect(first!.isNewQueue).toBe(true);
  expect(other!.endedLeases).toEqual([{ ...ended, lease: 'expired' }]);
  expect(returned!.endedLeases).toEqual([{ ...ended, lease: 'returned' }]);
});

it('a pull whose client has left tells nothing of its node: neither a restart, nor that it asks for more', async () => {
  const store = memoryStore({
    lease: { silenceMilliseconds: Infinity, factor: 1, graceMilliseconds: GRACE, uptime: () => 0, uptimeAt: () => 0 },
  });
  const planned = (await planQueue(store, key, suite, ASKED, { isWorker: false, pullCost: 0, at: NOW }))!;
  const handed: number[] = [];
  for (let isFirst = true; ; isFirst = false) {
    const pulled = await whenSaved(pull(store, requestOf(0, isFirst), isFirst ? planned : NO_PLAN, waitingCaller, NOW));
    if (!pulled!.batch) break;
    handed.push(...pulled!.batch.files);
  }
  const { id } = (await store.queues.find(key))!;
  const batches = await store.queues.batches(id);
  // Its process stood still, and the client repeated the request at another one.
  const late = await whenSaved(pull(store, requestOf(0, true), NO_PLAN, { isRetry: false, hasLeft: () => true }, NOW));
  expect(late).toMatchObject({ batch: null, endedLeases: [] });
  expect(await store.queues.batches(id)).toEqual(batches);
  expect(handed).toHaveLength(paths.length);
});
