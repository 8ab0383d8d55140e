import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewQueue } from '../../../src/engine/ports/queues.js';
import { problemsOf } from '../../../src/store/lmdb/check/check.js';
import { expireStep } from '../../../src/store/lmdb/expiry.js';
import { LmdbQueues } from '../../../src/store/lmdb/queues.js';
import { lmdbSplits } from '../../../src/store/lmdb/splits.js';
import { ascending, DAY, HOUR, NOW, newQueue, newSplit, pullAll, upTo } from '../contract/fixtures.js';
import { expire, leftovers, queueOf, recordsByTable, splitOf, temporaryStore } from './temporary-store.js';

function open(parts = temporaryStore()) {
  const queues = new LmdbQueues(parts, { cacheBytes: 1e9, pullCost: 0, lease: null });
  const handOut = async (name: string) => ascending(await pullAll({ queues }, queueOf(name), 0));
  const create = (name: string, plan: NewQueue, at = NOW) => queues.create(queueOf(name), plan, at);
  const sweep = (before: number) => expire(parts, before, { dropped: key => queues.drop(key) });
  return { parts, queues, handOut, create, sweep };
}

const BLOBS = Math.ceil(100 / 64) + 2;

describe('queues with the same plan', () => {
  it('have one copy of its files, and each hands out all of them', async () => {
    const { parts, queues, handOut, create } = open();
    const plan = newQueue({ queues }, 100);
    for (const name of ['1', '2', '3']) await create(name, plan);
    expect(recordsByTable(parts)).toMatchObject({ queues: 3, blobs: BLOBS, filesOf: 2, fileUsers: 3 });
    for (const name of ['1', '2', '3']) expect(await handOut(name)).toEqual(upTo(100));
  });

  it('have a copy each when their nodes create them at once', async () => {
    const { parts, queues, handOut, create } = open();
    const plan = newQueue({ queues }, 100);
    await Promise.all(['1', '2'].map(name => create(name, plan)));
    expect(recordsByTable(parts)).toMatchObject({ queues: 2, blobs: 2 * BLOBS, filesOf: 0 });
    for (const name of ['1', '2']) expect(await handOut(name)).toEqual(upTo(100));
  });

  it('keep its files until the last of them expires, whoever is the last', async () => {
    const { parts, queues, handOut, create, sweep } = open();
    const plan = newQueue({ queues }, 100);
    await create('1', plan);
    await create('2', plan, NOW + HOUR);
    await sweep(NOW + 1);
    await create('3', plan, NOW + 2 * HOUR);
    await sweep(NOW + HOUR + 1);
    expect(recordsByTable(parts)).toMatchObject({ queues: 1, blobs: BLOBS, filesOf: 1, fileUsers: 1 });
    expect(await handOut('3')).toEqual(upTo(100));
    await sweep(NOW + 3 * HOUR);
    expect(leftovers(parts)).toEqual([]);
  });

  it('get files of their own while those of the earlier ones are being deleted', async () => {
    const { parts, queues, handOut, create, sweep } = open();
    const plan = newQueue({ queues }, 64_000);
    await create('1', plan);
    const { id } = queues.find(queueOf('1'))!;
    await Promise.all(upTo(2000).map(i => parts.blobs.put([id, 1_000_000 + i], Buffer.of(0))));
    await expireStep(parts, NOW + 1, key => queues.drop(key));
    expect(parts.blobs.getCount()).toBeGreaterThan(0);
    await create('2', plan, NOW + HOUR);
    await sweep(NOW + 1);
    expect(recordsByTable(parts)).toMatchObject({ queues: 1, blobs: 65, filesOf: 0, fileUsers: 0 });
    expect(await handOut('2')).toHaveLength(64_000);
  });

  it('and their copies hand out all files and leave nothing behind, in whichever order they are created and expire', async () => {
    const steps = fc.array(fc.record({ verb: fc.constantFrom('create', 'repeat', 'sweep'), step: fc.nat(3) }), { maxLength: 12 });
    const run = async (history: { verb: string; step: number }[]) => {
      const { parts, queues, create, sweep, handOut } = open();
      const plan = newQueue({ queues }, 70);
      const alive = new Map<string, number>();
      let now = NOW;
      for (const [i, { verb, step }] of history.entries()) {
        now += step * HOUR;
        const name = String(i);
        if (verb === 'create') await create(name, plan, now);
        if (verb === 'create' || (verb === 'repeat' && (await queues.repeat(queueOf(name), now)))) alive.set(name, now);
        if (verb === 'sweep') await sweep(now - 2 * HOUR);
        if (verb === 'sweep') for (const [other, used] of alive) if (used < now - 2 * HOUR) alive.delete(other);
        expect([...problemsOf(parts, () => {})].filter(({ what }) => what !== 'has other files than its list')).toEqual([]);
      }
      for (const name of alive.keys()) expect(await handOut(name)).toEqual(upTo(70));
      await sweep(now + DAY);
      expect(leftovers(parts)).toEqual([]);
    };
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: 20 });
  });
});

it('splits with the same plan have one copy of its files', async () => {
  const { parts, sweep } = open();
  const splits = lmdbSplits(parts);
  const plan = newSplit({ splits }, splitOf(null));
  const [first, second] = [splitOf('1'), splitOf('2')];
  const [a, b] = [await splits.create(first, plan, NOW), await splits.create(second, plan, NOW + HOUR)];
  expect(recordsByTable(parts)).toMatchObject({ splits: 2, blobs: 4, filesOf: 1 });
  const files = upTo(3).map(node => splits.files(a, node)!.toString());
  await sweep(NOW + 1);
  expect(await splits.find(first)).toBeNull();
  expect(upTo(3).map(node => splits.files(b, node)!.toString())).toEqual(files);
  expect(splits.basis(b)).not.toBeNull();
  await sweep(NOW + HOUR + 1);
  expect(leftovers(parts)).toEqual([]);
});
