import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type QueueKey, queueKey } from '../../../src/engine/keys.js';
import type { OpenQueue, Verdict } from '../../../src/engine/ports/queues.js';
import type { Batch, Pull } from '../../../src/engine/queue/batch.js';
import { limits } from '../../../src/limits.js';
import type { TurnRecord } from '../../../src/store/lmdb/codecs/batch-codec.js';
import { batchesOf, bytesOf } from '../../../src/store/lmdb/open-queue.js';
import { LmdbQueues } from '../../../src/store/lmdb/queues.js';
import { Journal } from '../../../src/store/lmdb/writes/journal.js';
import {
  afterKill,
  closedAfterTest,
  estimatesOf,
  FORECAST,
  LIST,
  leftovers,
  NOBODY,
  nextTurns,
  queueOf,
  recordsByTable,
  settle,
  temporaryStore,
  withPut,
} from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const KEY = queueOf('build-1');
const triple = KEY.build;
const ROOMY = { cacheBytes: 1e9, pullCost: 0, lease: null };
/** Every request reads its queue back from the store. */
const NO_ROOM = { cacheBytes: 1, pullCost: 0, lease: null };

const pathOf = (file: number) => JSON.stringify({ path: `spec/${file}_spec.rb`, time_execution: null });

function create(queues: LmdbQueues, key: QueueKey, files = 20): Promise<boolean> {
  const estimates = estimatesOf(Array.from({ length: files }, (_, file) => `spec/${file}_spec.rb`));
  const { weights } = estimates;
  return queues.create(
    key,
    { people: NOBODY, list: LIST, files: queues.encode(estimates), weights, guessed: false, forecast: FORECAST },
    NOW,
  );
}

/** The id of the queue under a key. */
const idOf = (queues: LmdbQueues, key: QueueKey) => queues.find(key)?.id ?? null;

function update<Value>(queues: LmdbQueues, key: QueueKey, verb: (queue: OpenQueue) => Verdict<Value>): Promise<Value | null> {
  return queues.update(key, () => null, verb, NOW);
}

function pull(queues: LmdbQueues, key: QueueKey, node_index: number, given: Partial<Pull> = {}): Promise<Batch | null> {
  return update(queues, key, ({ queue }) => {
    const request = { node_index, run: 'run', batch_uuid: null, isRetry: false, isFirstRequest: false, wantsLastSplit: false, ...given };
    const handed = queue.pull({ recordedSubset: null, hasLeft: () => false, ...request }, NOW);
    return { value: handed?.batch ?? null, changes: handed?.isNew ? [handed.batch] : [] };
  });
}

/** Pulls with a node until the end, each answer written; the files in the order of handing. */
async function drain(queues: LmdbQueues, key: QueueKey, node_index: number, uuids: boolean): Promise<number[]> {
  const files: number[] = [];
  for (let pulls = 0; pulls < 1000; pulls++) {
    const batch = await pull(queues, key, node_index, { batch_uuid: uuids ? randomUUID() : null });
    if (!batch) return files;
    await settle(queues, key, batch.seq, true);
    files.push(...batch.files);
  }
  throw new Error(`node ${node_index} was never told the end; it was handed ${files.slice(0, 10).join()}, ...`);
}

const sorted = (files: readonly number[]) => [...files].sort((a, b) => a - b);
const all = (files: number) => Array.from({ length: files }, (_, file) => file);

describe('a queue in the store', () => {
  it('that many nodes create at once is one queue', async () => {
    const store = temporaryStore();
    const queues = new LmdbQueues(store, ROOMY);
    const created = await Promise.all(Array.from({ length: 16 }, () => create(queues, KEY)));
    expect(created.filter(isNew => isNew).length).toBe(1);
    expect(store.queues.getCount()).toBe(1);
    expect(store.blobs.getCount()).toBe(2);
    expect(queues.find(KEY)).toMatchObject({ name: KEY.digest, node_total: 4, repeats: false, list: LIST, created_at: NOW, used_at: NOW });
  });

  it.each([3, 64, 65, 200])('has its %d files as they were listed', async count => {
    const queues = new LmdbQueues(temporaryStore(), ROOMY);
    await create(queues, KEY, count);
    const id = idOf(queues, KEY)!;
    expect(queues.size(id)).toBe(count);
    for (const files of [all(count), [count - 1, 0], [0, 2, count - 1]]) {
      expect(queues.files(id, files).toString()).toBe(`[${files.map(pathOf).join()}]`);
    }
  });

  it('that is large is whole, and leaves nothing of what came too late', async () => {
    const store = temporaryStore();
    const queues = new LmdbQueues(store, ROOMY);
    const created = await Promise.all([0, 1, 2].map(() => create(queues, KEY, 40_000)));
    expect(created).toEqual([true, false, false]);
    const some = [0, 31_999, 32_000, 39_999];
    expect(queues.files(idOf(queues, KEY)!, some).toString()).toBe(`[${some.map(pathOf).join()}]`);
    expect(recordsByTable(store)).toMatchObject({ queues: 1, expiry: 1, blobs: 40_000 / 64 + 1 });
  });

  it.each([
    ['small', 20, 0],
    ['large', 40_000, 0],
    ['large', 40_000, 2],
  ])(
    'that is %s and not taken by the disk is refused to all who asked, leaves nothing, and is made at the next request',
    async (_, files, failing) => {
      const store = temporaryStore();
      let puts = 0;
      // As lmdb does: what is put in one turn fails as one.
      const full = Promise.reject<boolean>(new Error('full'));
      full.catch(() => {});
      const put = (...given: Parameters<typeof store.blobs.put>) =>
        Math.floor(puts++ / limits.putsPerTurn) === failing ? full : store.blobs.put(...given);
      const queues = new LmdbQueues({ ...store, blobs: withPut(store.blobs, put as () => Promise<boolean>) }, ROOMY);
      const refused = await Promise.allSettled([0, 1, 2].map(() => create(queues, KEY, files)));
      for (const one of refused) expect(one).toMatchObject({ status: 'rejected', reason: { status: 503 } });
      expect(queues.find(KEY)).toBeNull();
      expect(leftovers(store)).toEqual([]);
      puts = Infinity;
      expect(await create(queues, KEY, files)).toBe(true);
      expect(sorted(await drain(queues, KEY, 0, true))).toEqual(all(files));
    },
  );

  it('is another one for another project, build, commit, branch or node_total', () => {
    const keys = [
      queueKey(1, triple, 'build-1'),
      queueKey(2, triple, 'build-1'),
      queueKey(1, triple, 'build-2'),
      queueKey(1, { ...triple, commit_hash: 'abd' }, 'build-1'),
      queueKey(1, { ...triple, branch: 'next' }, 'build-1'),
      queueKey(1, { ...triple, node_total: 5 }, 'build-1'),
    ].map(({ digest }) => digest);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('is not there before it is created', async () => {
    const queues = new LmdbQueues(temporaryStore(), ROOMY);
    expect(queues.find(KEY)).toBeNull();
    expect(queues.newest(1, triple)).toBeNull();
    expect(await update(queues, KEY, () => ({ value: 'never', changes: [] }))).toBeNull();
  });

  it('is as it was on disk after a change to it failed', async () => {
    const queues = new LmdbQueues(temporaryStore(), ROOMY);
    await create(queues, KEY);
    const failing = update(queues, KEY, ({ queue }) => {
      queue.pull(
        {
          node_index: 0,
          run: 'run',
          batch_uuid: 'u',
          isRetry: false,
          isFirstRequest: false,
          wantsLastSplit: false,
          recordedSubset: null,
          hasLeft: () => false,
        },
        NOW,
      );
      throw new Error('the disk is full');
    });
    await expect(failing).rejects.toThrow('the disk is full');
    expect(sorted(await drain(queues, KEY, 1, true))).toEqual(all(20));
  });
});

describe('a queue whose journal fails', () => {
  it('is read back behind what was written after the failure', async () => {
    const store = temporaryStore();
    const { journalTurns } = store;
    let fail = (_: Error) => {};
    let land = () => {};
    const given = { ...store, journalTurns };
    given.journalTurns = withPut(journalTurns, () => new Promise<boolean>((_, reject) => (fail = reject)));
    const queues = new LmdbQueues({ ...given, journal: closedAfterTest(new Journal(given)) }, ROOMY);
    await create(queues, KEY);
    const id = idOf(queues, KEY)!;
    const first = pull(queues, KEY, 0, { batch_uuid: 'u-0' });
    await nextTurns();
    const put = (key: number, record: TurnRecord) => new Promise<boolean>(resolve => (land = () => resolve(journalTurns.put(key, record))));
    given.journalTurns = withPut(journalTurns, put as () => Promise<boolean>);
    const second = pull(queues, KEY, 1, { batch_uuid: 'u-1' });
    await nextTurns();
    given.journalTurns = journalTurns;
    fail(new Error('MDB_MAP_FULL'));
    await expect(first).rejects.toMatchObject({ status: 503 });
    const third = pull(queues, KEY, 2, { batch_uuid: 'u-2' });
    await nextTurns();
    land();
    await expect(second).rejects.toMatchObject({ status: 503 });
    const handed = [(await third)!, (await pull(queues, KEY, 3, { batch_uuid: 'u-3' }))!];
    const written = batchesOf(queues.parts, id).find(({ batch_uuid }) => batch_uuid === 'u-1');
    const again = (await pull(queues, KEY, 1, { batch_uuid: 'u-1' }))!;
    expect(again.files).toEqual(written?.files);
    const rest = await drain(queues, KEY, 3, true);
    expect(sorted([...handed, again].flatMap(({ files }) => files).concat(rest))).toEqual(all(20));
  });
});

describe.each([
  ['that stays in memory', ROOMY],
  ['that is read back at every request', NO_ROOM],
])('a queue %s', (_, options) => {
  it.each([
    ['with uuids', true],
    ['without uuids', false],
  ])('gives every file to exactly one of several nodes %s', async (_, uuids) => {
    const queues = new LmdbQueues(temporaryStore(), options);
    await create(queues, KEY, 40);
    const handed = await Promise.all([0, 1, 2, 3].map(node => drain(queues, KEY, node, uuids)));
    expect(sorted(handed.flat())).toEqual(all(40));
  });

  it('gives back what a node left before its answer', async () => {
    const queues = new LmdbQueues(temporaryStore(), options);
    await create(queues, KEY);
    const left = (await pull(queues, KEY, 0))!;
    await settle(queues, KEY, left.seq, false);
    expect(sorted(await drain(queues, KEY, 1, true))).toEqual(all(20));
  });

  it('answers a uuid that comes again with the same batch', async () => {
    const queues = new LmdbQueues(temporaryStore(), options);
    await create(queues, KEY);
    const first = (await pull(queues, KEY, 0, { batch_uuid: 'u-1' }))!;
    await settle(queues, KEY, first.seq, true);
    await pull(queues, KEY, 0, { batch_uuid: 'u-2' });
    const again = await pull(queues, KEY, 0, { batch_uuid: 'u-1' });
    expect([again!.seq, again!.files]).toEqual([first.seq, first.files]);
  });

  it('has its state on disk at every moment', async () => {
    const store = temporaryStore();
    const queues = new LmdbQueues(store, options);
    await create(queues, KEY);
    const handed: number[] = [];
    for (let i = 0; i < 3; i++) {
      const batch = (await pull(queues, KEY, i, { batch_uuid: `u-${i}` }))!;
      await settle(queues, KEY, batch.seq, true);
      handed.push(...batch.files);
    }
    const afterRestart = new LmdbQueues(afterKill(store), options);
    handed.push(...(await drain(afterRestart, KEY, 3, true)));
    expect(sorted(handed)).toEqual(all(20));
  });
});

describe('queues that push each other out of memory', () => {
  it('each give every file to one node, also to nodes without uuids whose answers are on their way', async () => {
    const store = temporaryStore();
    // Room for one of the three.
    const queues = new LmdbQueues(store, { cacheBytes: 5000, pullCost: 0, lease: null });
    const keys = ['build-1', 'build-2', 'build-3'].map(name => queueKey(1, triple, name));
    for (const key of keys) await create(queues, key);
    const handed = await Promise.all(keys.map(key => Promise.all([0, 1, 2, 3].map(node => drain(queues, key, node, false)))));
    for (const nodes of handed) expect(sorted(nodes.flat())).toEqual(all(20));
  });
});

describe('the cache of queues', () => {
  it('counts what they hand out: one that grows pushes out another', async () => {
    const cacheBytes = 10_500;
    const queues = new LmdbQueues(temporaryStore(), { cacheBytes, pullCost: 0, lease: null });
    const other = queueKey(1, triple, 'build-2');
    const inMemory = (key: QueueKey) => update(queues, key, open => ({ value: open, changes: [] }));
    for (const key of [other, KEY]) await create(queues, key);
    const [before, grown] = [(await inMemory(other))!, (await inMemory(KEY))!];
    expect(bytesOf(before) + bytesOf(grown)).toBeLessThan(cacheBytes);
    expect(await inMemory(other)).toBe(before);
    await drain(queues, KEY, 0, true);
    expect(bytesOf(before) + bytesOf(grown)).toBeGreaterThan(cacheBytes);
    expect(await inMemory(KEY)).toBe(grown);
    expect(await inMemory(other)).not.toBe(before);
  });
});

describe('a CI build without a queue of its own', () => {
  const second = queueKey(1, triple, 'build-2');

  async function afterFirst(): Promise<{ queues: LmdbQueues; id: string }> {
    const queues = new LmdbQueues(temporaryStore(), ROOMY);
    await create(queues, KEY);
    return { queues, id: idOf(queues, KEY)! };
  }

  it('has none, though another of the same build has', async () => {
    const { queues } = await afterFirst();
    expect(queues.find(second)).toBeNull();
  });

  it('repeats the newest of its build as a queue of its own, one for all its nodes', async () => {
    const { queues, id } = await afterFirst();
    const third = queueKey(1, triple, 'build-3');
    await create(queues, third);
    const newest = idOf(queues, third);
    const had = await pull(queues, third, 2);
    expect(await Promise.all([0, 1, 2].map(() => queues.repeat(second, NOW + 5)))).toEqual([true, true, true]);
    const copy = queues.find(second)!;
    expect([id, newest]).not.toContain(copy.id);
    expect(copy).toMatchObject({ name: third.digest, repeats: true, created_at: NOW, copied_at: NOW + 5, copied_runs_before: 0 });
    expect(queues.newest(1, triple)).toEqual(copy);
    expect(queues.copiedBatches(copy.id).map(({ files }) => files)).toEqual([had!.files]);
    expect(queues.copiedBatches(newest!)).toEqual([]);
    const again = await pull(queues, second, 2, { run: 'other', wantsLastSplit: true });
    expect(again).toMatchObject({ isReplay: true, files: had!.files });
  });

  it('shares nothing with the one that it repeats: each of the two hands out every file', async () => {
    const { queues } = await afterFirst();
    const had = await pull(queues, KEY, 0);
    await settle(queues, KEY, had!.seq, true);
    await queues.repeat(second, NOW);
    const again = await pull(queues, second, 0, { run: 'other', wantsLastSplit: true });
    await settle(queues, second, again!.seq, true);
    const [rest, restOfCopy] = await Promise.all([drain(queues, KEY, 1, true), drain(queues, second, 1, true)]);
    expect(sorted([...had!.files, ...rest])).toEqual(all(20));
    expect(sorted([...again!.files, ...restOfCopy])).toEqual(all(20));
  });

  it('expects nothing of nodes that do not come to it', async () => {
    let uptime = 0;
    const store = temporaryStore();
    const queues = new LmdbQueues(store, {
      ...ROOMY,
      lease: { factor: 1, graceMilliseconds: 1000, uptime: () => uptime, uptimeAt: () => uptime },
    });
    await create(queues, KEY);
    const had = await pull(queues, KEY, 0);
    await settle(queues, KEY, had!.seq, true);
    await queues.repeat(second, NOW);
    const first = await pull(queues, second, 1);
    uptime = 1e9;
    const rest = await drain(queues, second, 1, true);
    expect(sorted([...had!.files, ...first!.files, ...rest])).toEqual(all(20));
  });

  it('cannot repeat what no build had', async () => {
    const { queues } = await afterFirst();
    expect(await queues.repeat(queueKey(2, triple, 'build-2'), NOW)).toBe(false);
  });

  it('gets one made when it initialises in dynamic mode', async () => {
    const { queues, id } = await afterFirst();
    expect(await create(queues, second)).toBe(true);
    const created = idOf(queues, second);
    expect(created).not.toBe(id);
    expect(await queues.repeat(second, NOW)).toBe(true);
    expect(idOf(queues, second)).toBe(created);
  });
});

describe('an update', () => {
  it('runs its verb in the turn of its facts, when these are no promise', async () => {
    const queues = new LmdbQueues(temporaryStore(), ROOMY);
    await create(queues, KEY);
    await pull(queues, KEY, 0);
    const steps: string[] = [];
    const updating = queues.update(
      KEY,
      ({ id }) => steps.push(`facts of ${id === idOf(queues, KEY)}`),
      (_, facts) => ({ value: steps.push(`verb with ${facts}`), changes: [] }),
      NOW,
    );
    expect(steps).toEqual(['facts of true', 'verb with 1']);
    expect(await updating).toBe(2);
  });

  it.each([
    ['in memory', ROOMY],
    ['read back', NO_ROOM],
  ])('of a queue that is %s keeps its place, however long its facts take', async (_, options) => {
    const queues = new LmdbQueues(temporaryStore(), options);
    await create(queues, KEY);
    const order: number[] = [];
    const updates = [3, 0, 2, 0, 0].map((turns, i) =>
      queues.update(
        KEY,
        async () => {
          for (let turn = 0; turn < turns; turn++) await nextTurns();
          return i;
        },
        ({ queue }, facts) => {
          order.push(facts);
          const request = {
            node_index: i % 4,
            run: 'run',
            batch_uuid: `u-${i}`,
            isRetry: false,
            isFirstRequest: false,
            wantsLastSplit: false,
          };
          const { batch } = queue.pull({ recordedSubset: null, hasLeft: () => false, ...request }, NOW)!;
          return { value: batch.files, changes: [batch] };
        },
        NOW,
      ),
    );
    const files = (await Promise.all(updates)).flatMap(list => list!);
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(files).size).toBe(files.length);
  });

  it('whose facts fail is refused, and the next one runs', async () => {
    const queues = new LmdbQueues(temporaryStore(), ROOMY);
    await create(queues, KEY);
    const failing = queues.update(
      KEY,
      () => Promise.reject(new Error('unread')),
      () => ({ value: 1, changes: [] }),
      NOW,
    );
    const next = update(queues, KEY, () => ({ value: 2, changes: [] }));
    await expect(failing).rejects.toThrow('unread');
    expect(await next).toBe(2);
  });
});
