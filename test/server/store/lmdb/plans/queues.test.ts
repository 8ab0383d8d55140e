import { describe, expect, it } from 'vitest';
import type { QueueKey } from '../../../../../src/server/engine/keys.js';
import type { OpenQueue, Verdict } from '../../../../../src/server/engine/ports/queues.js';
import { refusals } from '../../../../../src/server/engine/refusal.js';
import type { Parts } from '../../../../../src/server/store/lmdb/parts.js';
import { LmdbQueues } from '../../../../../src/server/store/lmdb/plans/queues.js';
import { Failure } from '../../../../../src/server/store/lmdb/writes/failure.js';
import { bytesOf } from '../../../../../src/server/store/queue-cache.js';
import { whenSaved } from '../../../../testbed/waiting.js';
import { ascending, NOW, newQueue, pull, pullAll, settle, upTo } from '../../contract/fixtures.js';
import { afterKill, leftovers, newJournal, nextTurns, queueOf, recordsByTable, temporaryStore, withPut } from '../temporary-store.js';

const KEY = queueOf('build-1');
const ROOMY = { cacheBytes: 1e9, pullCost: 0, lease: null };
/** Every request reads its queue back from the store. */
const NO_ROOM = { ...ROOMY, cacheBytes: 1 };

const open = (parts: Parts, options = ROOMY) => ({ queues: new LmdbQueues(parts, options) });
type QueueStore = ReturnType<typeof open>;

const create = (store: QueueStore, key: QueueKey, files = 20) => store.queues.create(key, newQueue(files), NOW);

async function update<Value>({ queues }: QueueStore, key: QueueKey, verb: (queue: OpenQueue) => Verdict<Value>): Promise<Value | null> {
  return whenSaved(queues.update(key, () => null, verb, NOW));
}

describe('the records of a queue', () => {
  it.each([
    [20, 3],
    [17_000, 69],
  ])('of %d files exist once when many nodes create the queue concurrently', async (files, blobs) => {
    const parts = temporaryStore();
    const store = open(parts);
    expect(await Promise.all(upTo(3).map(() => create(store, KEY, files)))).toEqual([true, false, false]);
    expect(recordsByTable(parts)).toMatchObject({ queues: 1, expiry: 2, blobs });
  });

  it.each([
    ['a small', 20],
    ['a large', 17_000],
  ])('are removed when %s one does not fit on the disk; all nodes get a 503, and the next request creates it', async (_, files) => {
    const parts = temporaryStore();
    let isFull = true;
    // lmdb fails all puts of a turn together.
    const full = Promise.reject<boolean>(new Error('full'));
    full.catch(() => {});
    const put = (...entry: Parameters<typeof parts.blobs.put>) => (isFull ? full : parts.blobs.put(...entry));
    const store = open({ ...parts, blobs: withPut(parts.blobs, put as () => Promise<boolean>) });
    const results = await Promise.allSettled(upTo(3).map(() => create(store, KEY, files)));
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: { reason: 'disk' } });
    expect(store.queues.find(KEY)).toBeNull();
    expect(leftovers(parts)).toEqual([]);
    isFull = false;
    expect(await create(store, KEY, files)).toBe(true);
    expect(ascending(await pullAll(store, KEY, 0))).toEqual(upTo(files));
  });

  it('are not put at all when the disk has no room, of a queue or of a copy, whether runs wait or not', async () => {
    const parts = temporaryStore();
    let assertions = 0;
    const diskSpace = {
      ...parts.diskSpace,
      freeBytes: () => 0,
      assert() {
        assertions++;
        throw refusals.storeFailed(new Error('full'));
      },
    };
    const store = open({ ...parts, diskSpace: diskSpace as unknown as typeof parts.diskSpace });
    await expect(create(store, KEY)).rejects.toMatchObject({ reason: 'disk' });
    expect(leftovers(parts)).toEqual([]);
    await create(open(parts), KEY);
    const before = recordsByTable(parts);
    await expect(store.queues.repeat(queueOf('other'), NOW)).rejects.toMatchObject({ reason: 'disk' });
    expect(recordsByTable(parts)).toEqual(before);
    expect(assertions).toBeGreaterThan(1);
  });

  it.each([
    ['that stays in memory', ROOMY],
    ['that is read back for every request', NO_ROOM],
  ])('have the state of a queue %s at every moment', async (_, options) => {
    const parts = temporaryStore();
    const store = open(parts, options);
    await create(store, KEY);
    const handed: number[] = [];
    for (const node of upTo(3)) {
      const batch = (await pull(store, KEY, node, { batch_uuid: `u-${node}` }))!;
      await settle(store, KEY, batch, true);
      handed.push(...batch.files);
    }
    handed.push(...(await pullAll(open(afterKill(parts), options), KEY, 3)));
    expect(ascending(handed)).toEqual(upTo(20));
  });
});

it('a queue whose journal fails has at the next start what was on disk, and the nodes that were refused get theirs', async () => {
  const parts = temporaryStore();
  // That of the process that ends.
  const failing = { ...parts, failure: new Failure(parts.root, () => {}) };
  let fail = () => {};
  const journal = newJournal(failing, () => new Promise((_, reject) => (fail = () => reject(new Error('i/o error')))));
  const store = open({ ...failing, journal });
  await create(store, KEY);
  const refused = upTo(2).map(node => pull(store, KEY, node, { batch_uuid: `u-${node}` }));
  await nextTurns();
  fail();
  for (const node of refused) await expect(node).rejects.toMatchObject({ reason: 'disk' });
  await expect(pull(store, KEY, 2, { batch_uuid: 'u-2' })).rejects.toMatchObject({ reason: 'disk' });
  const next = open(afterKill(parts));
  const handed: number[] = [];
  for (const node of upTo(3)) handed.push(...(await pull(next, KEY, node, { batch_uuid: `u-${node}` }))!.files);
  expect(ascending(handed.concat(await pullAll(next, KEY, 3)))).toEqual(upTo(20));
});

describe('the cache of queues', () => {
  it('has a queue from its creation on, which the first pull does not read back', async () => {
    const parts = temporaryStore();
    let reads = 0;
    const blobs = new Proxy(parts.blobs, {
      get: (table, name) => {
        if (name === 'get') reads++;
        const value = Reflect.get(table, name) as unknown;
        return typeof value === 'function' ? value.bind(table) : value;
      },
    });
    const store = open({ ...parts, blobs });
    expect(await Promise.all(upTo(3).map(() => create(store, KEY)))).toEqual([true, false, false]);
    expect(store.queues.load()).toMatchObject({ inMemory: 1, open: 1, testFilesLeft: 20 });
    expect(ascending(await pullAll(store, KEY, 0))).toEqual(upTo(20));
    expect(reads).toBe(0);
  });

  it('reads a queue back that left it before its creation was answered, with what it had handed out', async () => {
    const store = open(temporaryStore(), NO_ROOM);
    const creating = create(store, KEY);
    const handed: number[] = [];
    let isCreated = false;
    void creating.then(() => (isCreated = true));
    while (!isCreated) {
      const batch = await pull(store, KEY, 0, { batch_uuid: `u-${handed.length}` });
      if (batch) handed.push(...batch.files);
      await nextTurns();
    }
    handed.push(...(await pullAll(store, KEY, 1)));
    expect(ascending(handed)).toEqual(upTo(20));
  });

  it('loses nothing of queues that evict each other, even while answers to nodes without batch ids are under way', async () => {
    // It has room for one of the three.
    const store = open(temporaryStore(), { ...ROOMY, cacheBytes: 5000 });
    const keys = ['build-1', 'build-2', 'build-3'].map(name => queueOf(name));
    for (const key of keys) await create(store, key);
    const handed = await Promise.all(keys.map(key => Promise.all(upTo(4).map(node => pullAll(store, key, node, false)))));
    for (const nodes of handed) expect(ascending(nodes.flat())).toEqual(upTo(20));
  });

  it('counts what they hand out: a queue that grows evicts another', async () => {
    const cacheBytes = 10_500;
    const store = open(temporaryStore(), { ...ROOMY, cacheBytes });
    const other = queueOf('build-2');
    const inMemory = (key: QueueKey) => update(store, key, queue => ({ value: queue, changes: [] }));
    for (const key of [other, KEY]) await create(store, key);
    const [before, growing] = [(await inMemory(other))!, (await inMemory(KEY))!];
    expect(bytesOf(before) + bytesOf(growing)).toBeLessThan(cacheBytes);
    expect(await inMemory(other)).toBe(before);
    await pullAll(store, KEY, 0);
    expect(bytesOf(before) + bytesOf(growing)).toBeGreaterThan(cacheBytes);
    expect(await inMemory(KEY)).toBe(growing);
    expect(await inMemory(other)).not.toBe(before);
  });
});

describe('an update', () => {
  it('runs its verb in the turn of its facts, unless they are a promise', async () => {
    const store = open(temporaryStore());
    await create(store, KEY);
    const { id } = store.queues.find(KEY)!;
    await pull(store, KEY, 0);
    const steps: string[] = [];
    const updating = whenSaved(
      store.queues.update(
        KEY,
        queue => steps.push(`facts of ${queue.id}`),
        (_, facts) => ({ value: steps.push(`verb with ${facts}`), changes: [] }),
        NOW,
      ),
    );
    expect(steps).toEqual([`facts of ${id}`, 'verb with 1']);
    expect(await updating).toBe(2);
  });
});
