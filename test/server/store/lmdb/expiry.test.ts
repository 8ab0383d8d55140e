import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { QueueKey } from '../../../../src/server/engine/keys.js';
import { EXPIRED_PER_STEP, LAST_USE_UPDATE_MILLISECONDS } from '../../../../src/server/engine/retention.js';
import { PATHS_PER_STEP } from '../../../../src/server/store/lmdb/expiry/deleted-projects.js';
import { expireStep } from '../../../../src/server/store/lmdb/expiry/expiry.js';
import type { Parts } from '../../../../src/server/store/lmdb/parts.js';
import type { LmdbStore } from '../../../../src/server/store/lmdb/store.js';
import { memoryStore } from '../../../harness/memory-store.js';
import { DAY, NOW, newQueue, newSplit, pull, record, secondsOf, settle, upTo } from '../contract/fixtures.js';
import { expire, leftovers, queueOf, recordsByTable, splitOf } from './temporary-store.js';

const HOUR = LAST_USE_UPDATE_MILLISECONDS;

/** The most that one step may delete of large things: "about" the limit. */
const MOST = 2 * EXPIRED_PER_STEP + 10;

/** Gives a split or queue many more blobs, as if it were larger than a request may be. */
async function addBlobs({ blobs }: Parts, owner: string): Promise<void> {
  await Promise.all(upTo(2000).map(i => blobs.put([owner, 1_000_000 + i], Buffer.of(0))));
}

/** Hands out a number of files, each as a batch of its own, which takes a queue with as many nodes as files. */
async function handOut(store: LmdbStore, key: QueueKey, files: number): Promise<void> {
  await Promise.all(upTo(files).map(node => pull(store, key, node, { batch_uuid: randomUUID() })));
  await store.parts.journal.checkpoint();
}

/** Records runs of nodes of one build, by default at NOW. */
const recordNodes = (store: LmdbStore, nodes: readonly number[], at: (node: number) => number = () => NOW) =>
  Promise.all(nodes.map(node_index => record(store, 1, {}, { node_total: 1000, node_index, at: at(node_index) })));

const recordCount = (parts: Parts) => Object.values(recordsByTable(parts)).reduce((sum, count) => sum + count, 0);

/** Makes one step. Resolves with whether more may be left. */
async function step({ parts, queues }: LmdbStore, before: number, count?: (kind: string) => void): Promise<boolean> {
  await parts.runs.settle();
  await parts.timingBuffer.save();
  return expireStep(parts, before, key => queues.drop(key), count);
}

/** Sweeps to the end. Returns how many records each step deleted. */
async function sweep({ parts, queues }: LmdbStore, before: number, dropped: (queue: string) => void = () => {}): Promise<number[]> {
  await parts.runs.settle();
  const deleted: number[] = [];
  let left = recordCount(parts);
  const stepped = () => {
    deleted.push(left - recordCount(parts));
    left = recordCount(parts);
  };
  const drop = (queue: string) => {
    dropped(queue);
    queues.drop(queue);
  };
  await expire(parts, before, { dropped: drop, stepped });
  return deleted;
}

describe('the expiry of a queue', () => {
  const key = queueOf('build-1', 128_000);

  it('makes it unreachable at the first step, and deletes thousands of records piece by piece', async () => {
    const store = memoryStore();
    const { parts, queues } = store;
    await queues.create(key, newQueue(17_000), NOW);
    await addBlobs(parts, queues.find(key)!.id);
    for (let filings = 0; filings < 10; filings++) await handOut(store, key, 20);
    expect(recordsByTable(parts)).toMatchObject({ batches: 10 });

    const dropped: string[] = [];
    expect(await expireStep(parts, NOW + 1, queue => dropped.push(queue) && queues.drop(queue))).toBe(true);
    expect([queues.find(key), await pull(store, key, 0)]).toEqual([null, null]);
    expect(parts.blobs.getCount()).toBeGreaterThan(0);

    const deleted = await sweep(store, NOW + 1, queue => dropped.push(queue));
    expect(deleted.length).toBeGreaterThan(5);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(MOST);
    expect(dropped).toEqual([key.digest]);
    expect(leftovers(parts)).toEqual([]);
  });

  it('leaves nothing of an answer that was written meanwhile', async () => {
    const store = memoryStore();
    await store.queues.create(key, newQueue(5), NOW);
    const batch = (await pull(store, key, 0))!;
    await sweep(store, NOW + 1);
    for (const isWritten of [true, false]) await settle(store, key, batch, isWritten);
    expect(leftovers(store.parts)).toEqual([]);
  });
});

describe('the expiry of a split', () => {
  it('makes it unreachable at the first step, and deletes thousands of records piece by piece', async () => {
    const store = memoryStore();
    const { parts, splits } = store;
    const key = splitOf(null, 3000);
    await addBlobs(parts, (await splits.create(key, newSplit(key), NOW)).id);
    expect(await step(store, NOW + 1)).toBe(true);
    expect(splits.find(key)).toBeNull();
    expect(parts.blobs.getCount()).toBeGreaterThan(0);
    const deleted = await sweep(store, NOW + 1);
    expect(deleted.length).toBeGreaterThan(5);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(MOST);
    expect(leftovers(parts)).toEqual([]);
  });
});

describe('the expiry sweep', () => {
  it('checks a bounded number of paths in a step, whether they expire or not', async () => {
    const store = memoryStore();
    const paths = Array.from({ length: 3 * PATHS_PER_STEP + 1 }, (_, i) => `spec/${i}_spec.rb`);
    const times = (paths: readonly string[]) => Object.fromEntries(paths.map(path => [path, 3]));
    await record(store, 1, times(paths), { commit_hash: 'old' });
    await record(store, 1, times(paths.slice(0, 700)), { commit_hash: 'new', at: NOW + 2 * HOUR });
    const deleted = await sweep(store, NOW + HOUR + 1);
    // Each path has three records.
    expect(Math.max(...deleted)).toBeLessThanOrEqual(3 * PATHS_PER_STEP);
    expect(deleted.length).toBeGreaterThan(3);
    expect(store.parts.pathNames.getCount()).toBe(700);
    expect((await secondsOf(store, 1, paths)).map(seconds => seconds !== null)).toEqual(paths.map((_, i) => i < 700));
    await sweep(store, NOW + 3 * HOUR + 1);
    expect(leftovers(store.parts)).toEqual([]);
  });

  it('keeps the records of a build while a run is left', async () => {
    const store = memoryStore();
    await recordNodes(store, [0, 1], node => NOW + 100 * node);
    await sweep(store, NOW + 50);
    expect(recordsByTable(store.parts)).toMatchObject({ builds: 1, buildNumbers: 2, subsets: 1, buildIndex: 8 });
  });

  it('deletes a bounded number of builds in a step', async () => {
    const store = memoryStore();
    await Promise.all(upTo(500).map(i => record(store, 1, {}, { commit_hash: `c${i}`, at: NOW + i })));
    const left = [500];
    while (await step(store, NOW + 1000)) left.push(store.parts.builds.getCount());
    for (let i = 1; i < left.length; i++) expect(left[i - 1]! - left[i]!).toBeLessThanOrEqual(EXPIRED_PER_STEP);
    expect(leftovers(store.parts)).toEqual([]);
  });

  it('looks at a bounded number of runs of a build in a step, and keeps those that are young', async () => {
    const store = memoryStore();
    const { subsets, expiry } = store.parts;
    const nodes = upTo(1000);
    await recordNodes(store, nodes, node => (node % 2 === 0 ? NOW : NOW + DAY + node));
    const counted: string[] = [];
    const left = [1000];
    while (await step(store, NOW + 1, kind => counted.push(kind))) left.push(subsets.getCount());
    expect(left.length).toBeGreaterThan(2);
    for (let i = 1; i < left.length; i++) expect(left[i - 1]! - left[i]!).toBeLessThanOrEqual(EXPIRED_PER_STEP);
    expect(counted).toEqual(Array(500).fill('subset'));
    expect([...subsets.getKeys()]).toEqual(nodes.filter(node => node % 2 === 1).map(node => [1, node, 1]));
    expect([...expiry.getKeys()]).toEqual([[NOW + DAY + 1, 'build', 1]]);
    await sweep(store, NOW + DAY + 1000);
    expect(leftovers(store.parts)).toEqual([]);
  });

  it('deletes a run that was recorded while it looked at other runs of the build', async () => {
    const store = memoryStore();
    const { subsets, expiry } = store.parts;
    await recordNodes(store, upTo(1000).slice(1));
    await step(store, NOW + 1);
    await recordNodes(store, [0], () => NOW + DAY);
    await sweep(store, NOW + 1);
    expect([...subsets.getKeys()]).toEqual([[1, 0, 1]]);
    expect([...expiry.getKeys()]).toEqual([[NOW + DAY, 'build', 1]]);
    await sweep(store, NOW + DAY + 1);
    expect(leftovers(store.parts)).toEqual([]);
  });

  it('leaves no record in a store with records of all kinds', async () => {
    const store = memoryStore({ cacheBytes: 4000 });
    const { parts, queues, splits } = store;
    const rounds = upTo(6).map(async i => {
      const at = NOW + 100 * i;
      await record(store, 1, { [`spec/${i % 3}_spec.rb`]: 3, 'spec/often_spec.rb': 3 }, { commit_hash: `c${i % 2}`, at });
      // Some are fixed.
      const split = splitOf(i < 3 ? `${i % 2}` : null, 300);
      await splits.use(split, await splits.create(split, newSplit(split), at), at);
      const key = queueOf(`build-${i}`, 250);
      await queues.create(key, newQueue(250), at);
      await handOut(store, key, 250);
      await queues.repeat(queueOf(`repeat-${i}`, 250), at + 50);
    });
    await Promise.all(rounds);
    await parts.runs.settle();
    expect(leftovers(parts).length).toBeGreaterThan(10);
    for (const before of [NOW + 150, NOW + 333, NOW + 2 * HOUR]) await sweep(store, before);
    expect(leftovers(parts)).toEqual([]);
  });
});
