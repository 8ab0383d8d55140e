import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Soon } from '../../../../src/base/soon.js';
import { type QueueKey, queueKey } from '../../../../src/server/engine/keys.js';
import type { OpenQueue, Verdict } from '../../../../src/server/engine/ports/queues.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import type { Batch } from '../../../../src/server/engine/queue/batch.js';
import type { LeasePolicy } from '../../../../src/server/engine/queue/leases.js';
import type { BatchSums } from '../../../../src/server/planning/batching/batch-cost.js';
import { decodeBasis } from '../../../../src/server/planning/estimating/basis.js';
import { whenSaved } from '../../../testbed/waiting.js';
import {
  ascending,
  BUILD,
  estimates,
  FORECAST,
  HOUR,
  LIST,
  NOW,
  newProject,
  newQueue,
  planned,
  pull,
  pullAll,
  record,
  settle,
  sweep,
  upTo,
} from './fixtures.js';
import { queueStores, stores } from './stores.js';

describe.each(stores)('what the queues of a project observed, in a store in $name,', ({ open, opened }) => {
  const observed: BatchSums = [4, 8, 40, 16, 80, 400, 60, 120, 600, 4];

  it('is there for its next queue at once, and not for those of other projects', async () => {
    const store = await open();
    const [project, other] = [await newProject(store), await newProject(store, 'other')];
    expect(await store.queues.learned(project, 'queue')).toBeNull();
    for (const builds of [1, 2]) {
      store.queues.learn(project, 'queue', observed);
      expect(await store.queues.learned(project, 'queue')).toEqual(observed.map(sum => builds * sum));
    }
    expect(await store.queues.learned(other, 'queue')).toBeNull();
    expect(await store.queues.learned(project, 'split')).toBeNull();
    // Later writes are on disk after it.
    await store.maintenance.probe(NOW);
    expect(await store.queues.learned(project, 'queue')).toEqual(observed.map(sum => 2 * sum));
  });

  it('goes with its project', async () => {
    const { store, project } = await opened();
    store.queues.learn(project, 'queue', observed);
    await store.maintenance.probe(NOW);
    await store.access.deleteProject(project, NOW);
    await sweep(store, NOW, NOW + 1);
    expect(await store.queues.learned(project, 'queue')).toBeNull();
  });
});

describe.each(queueStores)('queues in a store in $name', ({ opened: openStore }) => {
  async function opened(lease: LeasePolicy | null = null) {
    const { store, project } = await openStore({ lease });
    const { plans, queues } = store;
    const sizeOf = async (queue: string) => (await plans.part(queue, 'weights'))!.length;
    const key = (ci_run: string, build = BUILD) => queueKey(project, build, ci_run);
    const create = (key: QueueKey, count = 20, at = NOW) => queues.create(key, newQueue(count), at);
    const idOf = async (key: QueueKey) => (await queues.find(key))!.id;
    /** Runs a verb on the first queue. */
    const update = <Facts>(facts: () => Soon<Facts>, verb: (queue: OpenQueue, facts: Facts) => Verdict<unknown>) =>
      whenSaved(queues.update(key('1'), facts, verb, NOW));
    return { store, project, plans, queues, sizeOf, key, create, idOf, update, first: key('1'), second: key('2') };
  }
  /** With the first queue. */
  async function created(lease: LeasePolicy | null = null) {
    const all = await opened(lease);
    await all.create(all.first);
    return all;
  }
  const nothing = () => null;

  it('are found once they are created, each under its key', async () => {
    const { store, plans, project, queues, key, create, first } = await opened();
    expect([await queues.find(first), await queues.newest(project, BUILD)]).toEqual([null, null]);
    await record(store, project, {});
    expect(await create(first)).toBe(true);
    expect(await queues.newest(project, { ...BUILD, branch: 'next' })).toBeNull();
    const info = (await queues.find(first))!;
    const times = { created_at: NOW, runs_before: 1, used_at: NOW };
    expect(info).toEqual({ id: info.id, name: first.digest, node_total: 4, copied: null, list: LIST, ...times });
    const otherBuilds = [{ commit_hash: 'abd' }, { branch: 'next' }, { node_total: 5 }].map(part => key('1', { ...BUILD, ...part }));
    for (const other of [key('2'), ...otherBuilds, queueKey(project + 1, BUILD, '1')]) expect(await queues.find(other)).toBeNull();
    expect(await plans.part(info.id, 'forecast')).toEqual(FORECAST);
    expect(await plans.part(info.id, 'weights')).toEqual(new Float64Array(20).fill(20_000));
    expect([await queues.batches(info.id), await queues.copiedBatches(info.id)]).toEqual([[], []]);
    expect([...decodeBasis((await plans.part(info.id, 'basis'))!, 20).basis]).toEqual([...estimates(20).basis]);
    for (const name of ['cuts', 'first'] as const) expect(await plans.part(info.id, name)).toBeNull();
    for (const name of ['forecast', 'basis', 'weights', 'cuts', 'first'] as const) expect(await plans.part('unknown', name)).toBeNull();
  });

  it('hand out the files that go first before all others, and copies know them, too', async () => {
    const { store, plans, queues, idOf, first, second } = await opened();
    const goFirst = { failed: [15], unmeasured: [3, 7] };
    await queues.create(first, { ...newQueue(20), first: goFirst }, NOW);
    const left = (await pull(store, first, 0, { batch_uuid: 'left' }))!;
    await settle(store, first, left, false);
    const handed: number[][] = [];
    for (let node = 0; node < 4; node++) handed.push((await pull(store, first, node))!.files);
    expect([left.files, ...handed.slice(0, 3)]).toEqual([[15], [15], [3], [7]]);
    expect(handed[3]!.length).toBeGreaterThan(1);
    await queues.repeat(second, NOW);
    for (const key of [first, second]) expect(await plans.part(await idOf(key), 'first')).toEqual(goFirst);
  });

  it('have another revision after each change of their batches, and the same without', async () => {
    const { store, queues, first, second, create, idOf } = await created();
    await create(second);
    const revision = async () => await queues.revision(await idOf(first));
    const seen = [await revision()];
    const batch = (await pull(store, first, 0))!;
    seen.push(await revision());
    await settle(store, first, batch, false);
    seen.push(await revision());
    await pull(store, first, 0);
    seen.push(await revision());
    expect(new Set(seen).size).toBe(4);
    await pull(store, second, 0);
    await store.maintenance.publish('queues');
    expect(await revision()).toBe(seen.at(-1));
  });

  it('that many nodes create concurrently are one', async () => {
    const { sizeOf, create, first, idOf } = await opened();
    const created = await Promise.all(upTo(16).map(i => create(first, 20 + i)));
    expect(created.filter(isNew => isNew)).toHaveLength(1);
    expect(await sizeOf(await idOf(first))).toBe(20 + created.indexOf(true));
    expect(await create(first)).toBe(false);
  });

  it.each([3, 64, 65, 200, 17_000])('have their %d files as they were planned', async count => {
    const { sizeOf, plans, create, first, idOf } = await opened();
    await create(first, count);
    const id = await idOf(first);
    expect(await sizeOf(id)).toBe(count);
    const whole = planned(count, upTo(count));
    for (const files of [upTo(Math.min(count, 300)), [count - 1, 0], [0, 2, count - 1], [1]]) {
      expect(JSON.parse((await plans.files(id, files))!.toString())).toEqual(files.map(file => whole[file]));
    }
  });

  it('that do not exist have no files, and no verb runs', async () => {
    const { queues, plans, first, update } = await opened();
    let runs = 0;
    expect(await update(nothing, () => ({ value: ++runs, changes: [] }))).toBeNull();
    expect(runs).toBe(0);
    expect(await queues.repeat(first, NOW)).toBe(false);
    expect(await plans.files('unknown', [0])).toBeNull();
  });

  it.each([
    ['with', true],
    ['without', false],
  ])('hand out each file to exactly one node, whose requests come %s ids', async (_, hasUuids) => {
    const { store, create, first, second } = await opened();
    const queues = [first, second];
    for (const key of queues) await create(key, 40);
    const handed = await Promise.all(queues.map(key => Promise.all(upTo(4).map(node => pullAll(store, key, node, hasUuids)))));
    for (const nodes of handed) expect(ascending(nodes.flat())).toEqual(upTo(40));
  });

  it('have the last state of each batch on disk, oldest first', async () => {
    const { store, queues, first, idOf } = await created();
    const handed: Batch[] = [];
    for (const node of [0, 1, 2]) handed.push((await pull(store, first, node))!);
    const shown = ({ node_index, files, decision }: Batch) => [node_index, files, decision!];
    const known = async () => (await queues.batches(await idOf(first))).map(shown);
    expect(await known()).toEqual(handed.map(shown));
    await settle(store, first, handed[1]!, false);
    await settle(store, first, handed[2]!, true);
    expect(await known()).toEqual([handed[0]!, handed[2]!].map(shown));
    expect((await queues.batches(await idOf(first))).map(({ delivered }) => delivered)).toEqual([false, true]);
    const rest = await pullAll(store, first, 3);
    expect(ascending([...handed[0]!.files, ...handed[2]!.files, ...rest])).toEqual(upTo(20));
    expect(ascending((await queues.batches(await idOf(first))).flatMap(({ files }) => files))).toEqual(upTo(20));
  });

  it.each<[string, (store: Store, call: number) => Soon<unknown>]>([
    ['are read from the store', store => store.access.projects()],
    [
      'take several turns',
      async (_, call) => {
        for (let turn = 0; turn < (3 * call) % 4; turn++) await nextTurn();
        return call;
      },
    ],
  ])('run verbs in the order of the calls, when their facts %s', async (_, factsOf) => {
    const { store, update } = await created();
    const order: number[] = [];
    const call = (i: number) =>
      update(
        () => factsOf(store, i),
        (_open, facts) => ({ value: [order.push(i), facts], changes: [] }),
      );
    const values = await Promise.all(upTo(8).map(call));
    expect(order).toEqual(upTo(8));
    expect(values).toEqual(await Promise.all(upTo(8).map(async i => [i + 1, await factsOf(store, i)])));
  });

  it('have the state on disk after a verb failed', async () => {
    const { store, first, update } = await created();
    const batch = (await pull(store, first, 0, { batch_uuid: 'u' }))!;
    const failing = async () =>
      update(nothing, ({ queue }) => {
        queue.undelivered(batch.seq);
        throw new Error('the verb failed');
      });
    await expect(failing()).rejects.toThrow('the verb failed');
    expect(ascending([...batch.files, ...(await pullAll(store, first, 1))])).toEqual(upTo(20));
  });

  it('have the same state, and run the next verb, if facts cannot be read', async () => {
    const { store, first, update } = await created();
    const failing = update(
      () => Promise.reject(new Error('cannot read')),
      () => ({ value: 1, changes: [] }),
    );
    const next = pullAll(store, first, 0);
    await expect(failing).rejects.toThrow('cannot read');
    expect(ascending(await next)).toEqual(upTo(20));
  });

  it('keep the first list that differed', async () => {
    const { queues, first } = await created();
    const info = (await queues.find(first))!;
    for (const difference of ['they differ', 'they differ more']) await queues.noteOtherList(info, difference);
    expect(await queues.find(first)).toEqual({ ...info, other_list: 'they differ' });
  });

  it('count queues in memory', async () => {
    const { store, queues, create, first, second } = await opened();
    for (const key of [first, second]) await create(key);
    await pullAll(store, first, 0);
    const batch = (await pull(store, second, 0))!;
    const { inMemory, open: unfinished, testFilesLeft } = queues.load();
    expect(inMemory).toBeLessThanOrEqual(2);
    expect([0, 1]).toContain(unfinished);
    expect(testFilesLeft).toBe(unfinished * (20 - batch.files.length));
  });

  describe('that repeat another', () => {
    it('are one copy of the newest queue of the build', async () => {
      const { store, sizeOf, plans, project, queues, key, create, first, second, idOf } = await opened();
      const third = key('3');
      for (const key of [first, third]) await create(key);
      await queues.noteOtherList((await queues.find(third))!, 'they differ');
      const handed = (await pull(store, third, 2))!;
      await record(store, project, {});
      expect(await Promise.all(upTo(3).map(() => queues.repeat(second, NOW + 1)))).toEqual([true, true, true]);
      const { other_list: _, ...copied } = (await queues.find(third))!;
      const copy = (await queues.find(second))!;
      const since = { copied: { runs_before: 1, at: NOW + 1 }, used_at: NOW + 1 };
      expect(copy).toEqual({ ...copied, id: copy.id, ...since });
      expect([await idOf(first), await idOf(third)]).not.toContain(copy.id);
      expect(await queues.newest(project, BUILD)).toEqual(copy);
      expect([await sizeOf(copy.id), await plans.part(copy.id, 'forecast')]).toEqual([20, FORECAST]);
      expect(await plans.files(copy.id, [3])).toEqual(await plans.files(copied.id, [3]));
      expect(await plans.part(copy.id, 'basis')).toEqual(await plans.part(copied.id, 'basis'));
      const before = await queues.copiedBatches(copy.id);
      expect(before).toMatchObject([{ node_index: 2, files: handed.files, delivered: true }]);
      expect((await pull(store, second, 2, { run: 'another', wantsLastSplit: true }))!.files).toEqual(handed.files);
      // A copy of the copy has what was handed out again once.
      await queues.repeat(key('4'), NOW + 2);
      expect(await queues.copiedBatches(await idOf(key('4')))).toEqual(before);
      expect(await queues.copiedBatches(copied.id)).toEqual([]);
    });

    it('hand out each file, and so does the original', async () => {
      const { store, queues, first, second } = await created();
      const handed = (await pull(store, first, 0))!;
      await settle(store, first, handed, true);
      await queues.repeat(second, NOW);
      const repeated = (await pull(store, second, 0, { run: 'another', wantsLastSplit: true }))!;
      await settle(store, second, repeated, true);
      const [rest, restOfCopy] = await Promise.all([pullAll(store, first, 1), pullAll(store, second, 1)]);
      expect(ascending([...handed.files, ...rest])).toEqual(upTo(20));
      expect(ascending([...repeated.files, ...restOfCopy])).toEqual(upTo(20));
    });

    it('do not wait for nodes that never pull', async () => {
      let uptime = 0;
      const lease = { silenceMilliseconds: Infinity, factor: 1, graceMilliseconds: 1000, uptime: () => uptime, uptimeAt: () => uptime };
      const { store, queues, first, second } = await created(lease);
      const handed = (await pull(store, first, 0))!;
      await settle(store, first, handed, true);
      await queues.repeat(second, NOW);
      const batch = (await pull(store, second, 1))!;
      uptime = 1e9;
      expect(ascending([...handed.files, ...batch.files, ...(await pullAll(store, second, 1))])).toEqual(upTo(20));
    });

    it('do not replace a queue', async () => {
      const { queues, create, first, second } = await opened();
      for (const key of [first, second]) await create(key);
      const info = await queues.find(second);
      expect(await queues.repeat(second, NOW + HOUR)).toBe(true);
      expect(await queues.find(second)).toEqual(info);
    });

    it('outlive the original', async () => {
      const { store, queues, first, second } = await created();
      const handed = (await pull(store, first, 0))!;
      await queues.repeat(second, NOW + HOUR);
      expect(await sweep(store, NOW + 1)).toEqual({ queue: 1, ci_run: 1 });
      expect(await queues.find(first)).toBeNull();
      expect(ascending([...handed.files, ...(await pullAll(store, second, 1))])).toEqual(upTo(20));
      expect(await sweep(store, NOW + HOUR + 1)).toEqual({ queue: 1, ci_run: 1 });
      expect(await queues.find(second)).toBeNull();
    });
  });

  it('that have expired do not exist, and can be created again', async () => {
    const { store, plans, project, queues, create, first, idOf } = await created();
    const old = (await queues.find(first))!;
    const batch = (await pull(store, first, 0))!;
    await sweep(store, NOW + 1);
    await settle(store, first, batch, true);
    await queues.noteOtherList(old, 'they differ');
    expect([await queues.find(first), await queues.newest(project, BUILD), await plans.part(old.id, 'forecast')]).toEqual([
      null,
      null,
      null,
    ]);
    expect(await queues.batches(old.id)).toEqual([]);
    expect(await queues.repeat(first, NOW + 1)).toBe(false);
    expect([await plans.files(old.id, [0]), await plans.part(old.id, 'weights')]).toEqual([null, null]);
    expect(await create(first, 5, NOW + HOUR)).toBe(true);
    expect(await queues.newest(project, BUILD)).toEqual(await queues.find(first));
    expect(await idOf(first)).not.toBe(old.id);
    expect(await pullAll(store, first, 0)).toHaveLength(5);
  });
});
