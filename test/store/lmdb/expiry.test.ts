import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { QueueKey, SplitKey } from '../../../src/engine/keys.js';
import { limits } from '../../../src/limits.js';
import { lmdbBuilds } from '../../../src/store/lmdb/builds.js';
import { expireStep } from '../../../src/store/lmdb/expiry.js';
import type { Parts } from '../../../src/store/lmdb/parts.js';
import { LmdbQueues } from '../../../src/store/lmdb/queues.js';
import { lmdbSplits } from '../../../src/store/lmdb/splits.js';
import { DAY, NOW, newQueue, newSplit, pull, settle, upTo } from '../contract/fixtures.js';
import { expire, leftovers, queueOf, recordRun, recordsByTable, secondsOf, splitOf, temporaryStore } from './temporary-store.js';

const HOUR = limits.lastUseUpdateMilliseconds;

/** The most that one step may delete of large things: "about" the limit. */
const MOST = 2 * limits.expiredPerStep + 10;

function open(cacheBytes = 1e9) {
  const parts = temporaryStore();
  const queues = new LmdbQueues(parts, { cacheBytes, pullCost: 0, lease: null });
  return { parts, queues, drop: (key: string) => queues.drop(key) };
}

type QueueStore = ReturnType<typeof open>;

const createQueue = (store: QueueStore, key: QueueKey, files: number, at = NOW) => store.queues.create(key, newQueue(store, files), at);

/** Gives a split or queue many more blobs, as if it were larger than a request may be. */
async function addBlobs({ blobs }: Parts, owner: string): Promise<void> {
  await Promise.all(upTo(2000).map(i => blobs.put([owner, 1_000_000 + i], Buffer.of(0))));
}

/** Hands out a number of files, each as a batch of its own, which takes a queue with as many nodes as files. */
async function handOut(store: QueueStore, key: QueueKey, files: number): Promise<void> {
  await Promise.all(upTo(files).map(node => pull(store, key, node, { batch_uuid: randomUUID() })));
  await store.parts.journal.checkpoint();
}

function createSplit(parts: Parts, key: SplitKey, at = NOW) {
  const splits = lmdbSplits(parts);
  return splits.create(key, newSplit({ splits }, key), at);
}

function record(parts: Parts, commit_hash: string, at: number, paths: readonly string[] = []) {
  const files = paths.map(path => ({ path, time_execution: 3 }));
  return recordRun(parts, 1, { commit_hash, branch: 'main', node_total: 2, node_index: 0 }, files, at);
}

const recordCount = (parts: Parts) => Object.values(recordsByTable(parts)).reduce((sum, count) => sum + count, 0);

/** Sweeps to the end. Returns how many records each step deleted. */
async function sweep(parts: Parts, before: number, dropped: (queue: string) => void = () => {}): Promise<number[]> {
  const deleted: number[] = [];
  let left = recordCount(parts);
  const stepped = () => {
    deleted.push(left - recordCount(parts));
    left = recordCount(parts);
  };
  await expire(parts, before, { dropped, stepped });
  return deleted;
}

describe('the expiry of a queue', () => {
  const key = queueOf('build-1', 128_000);

  it('makes it unreachable at the first step, and deletes thousands of records piece by piece', async () => {
    const store = open();
    const { parts, queues } = store;
    await createQueue(store, key, 128_000);
    await addBlobs(parts, queues.find(key)!.id);
    for (let filings = 0; filings < 10; filings++) await handOut(store, key, 20);
    expect(recordsByTable(parts)).toMatchObject({ batches: 10 });

    const dropped: string[] = [];
    const drop = (queue: string) => {
      dropped.push(queue);
      queues.drop(queue);
    };
    expect(await expireStep(parts, NOW + 1, drop)).toBe(true);
    expect([queues.find(key), await pull(store, key, 0)]).toEqual([null, null]);
    expect(parts.blobs.getCount()).toBeGreaterThan(0);

    const deleted = await sweep(parts, NOW + 1, drop);
    expect(deleted.length).toBeGreaterThan(5);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(MOST);
    expect(dropped).toEqual([key.digest]);
    expect(leftovers(parts)).toEqual([]);
  });

  it('leaves nothing of an answer that was written meanwhile', async () => {
    const store = open();
    await createQueue(store, key, 5);
    const batch = (await pull(store, key, 0))!;
    await sweep(store.parts, NOW + 1, store.drop);
    for (const isWritten of [true, false]) await settle(store, key, batch, isWritten);
    expect(leftovers(store.parts)).toEqual([]);
  });
});

describe('the expiry of a split', () => {
  it('makes it unreachable at the first step, and deletes thousands of records piece by piece', async () => {
    const { parts, drop } = open();
    const key = splitOf(null, 3000);
    await addBlobs(parts, (await createSplit(parts, key)).id);
    expect(await expireStep(parts, NOW + 1, drop)).toBe(true);
    expect(lmdbSplits(parts).find(key)).toBeNull();
    expect(parts.blobs.getCount()).toBeGreaterThan(0);
    const deleted = await sweep(parts, NOW + 1);
    expect(deleted.length).toBeGreaterThan(5);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(MOST);
    expect(leftovers(parts)).toEqual([]);
  });
});

describe('the expiry sweep', () => {
  it('checks a bounded number of paths in a step, whether they expire or not', async () => {
    const { parts } = open();
    const paths = Array.from({ length: 3 * limits.pathsPerStep + 1 }, (_, i) => `spec/${i}_spec.rb`);
    await record(parts, 'old', NOW, paths);
    await record(parts, 'new', NOW + 2 * HOUR, paths.slice(0, 700));
    const deleted = await sweep(parts, NOW + HOUR + 1);
    // Each path has three records.
    expect(Math.max(...deleted)).toBeLessThanOrEqual(3 * limits.pathsPerStep);
    expect(deleted.length).toBeGreaterThan(3);
    expect(parts.pathNames.getCount()).toBe(700);
    expect(secondsOf(parts, 1, paths).map(seconds => seconds !== null)).toEqual(paths.map((_, i) => i < 700));
    await sweep(parts, NOW + 3 * HOUR + 1);
    expect(leftovers(parts)).toEqual([]);
  });

  it('keeps the records of a build while a run is left', async () => {
    const { parts } = open();
    const node = { commit_hash: 'abc', branch: 'main', node_total: 2 };
    for (const node_index of [0, 1]) await recordRun(parts, 1, { ...node, node_index }, [], NOW + 100 * node_index);
    await sweep(parts, NOW + 50);
    expect(recordsByTable(parts)).toMatchObject({ builds: 1, buildNumbers: 2, subsets: 1, buildIndex: 8 });
  });

  it('deletes a bounded number of builds in a step', async () => {
    const { parts, drop } = open();
    await Promise.all(upTo(500).map(i => record(parts, `c${i}`, NOW + i)));
    await parts.timingBuffer.save();
    const left = [500];
    while (await expireStep(parts, NOW + 1000, drop)) left.push(lmdbBuilds(parts).page(1, {}, 1).total);
    for (let i = 1; i < left.length; i++) expect(left[i - 1]! - left[i]!).toBeLessThanOrEqual(limits.expiredPerStep);
    expect(leftovers(parts)).toEqual([]);
  });

  it('looks at a bounded number of runs of a build in a step, and keeps those that are young', async () => {
    const { parts, drop } = open();
    const nodes = upTo(1000);
    const at = (node: number) => (node % 2 === 0 ? NOW : NOW + DAY + node);
    const build = { commit_hash: 'large', branch: 'main', node_total: 1000 };
    await Promise.all(nodes.map(node_index => recordRun(parts, 1, { ...build, node_index }, [], at(node_index))));
    await parts.timingBuffer.save();
    const counted: string[] = [];
    const left = [1000];
    while (await expireStep(parts, NOW + 1, drop, kind => counted.push(kind))) left.push(parts.subsets.getCount());
    expect(left.length).toBeGreaterThan(2);
    for (let i = 1; i < left.length; i++) expect(left[i - 1]! - left[i]!).toBeLessThanOrEqual(limits.expiredPerStep);
    expect(counted).toEqual(Array(500).fill('subset'));
    expect([...parts.subsets.getKeys()]).toEqual(nodes.filter(node => node % 2 === 1).map(node => [1, node, 1]));
    expect([...parts.expiry.getKeys()]).toEqual([[NOW + DAY + 1, 'build', 1]]);
    await sweep(parts, NOW + DAY + 1000);
    expect(leftovers(parts)).toEqual([]);
  });

  it('deletes a run that was recorded while it looked at other runs of the build', async () => {
    const { parts, drop } = open();
    const build = { commit_hash: 'large', branch: 'main', node_total: 1000 };
    const others = upTo(1000).slice(1);
    await Promise.all(others.map(node_index => recordRun(parts, 1, { ...build, node_index }, [], NOW)));
    await expireStep(parts, NOW + 1, drop);
    await recordRun(parts, 1, { ...build, node_index: 0 }, [], NOW + DAY);
    await parts.timingBuffer.save();
    await sweep(parts, NOW + 1);
    expect([...parts.subsets.getKeys()]).toEqual([[1, 0, 1]]);
    expect([...parts.expiry.getKeys()]).toEqual([[NOW + DAY, 'build', 1]]);
    await sweep(parts, NOW + DAY + 1);
    expect(leftovers(parts)).toEqual([]);
  });

  it('leaves no record in a store with records of all kinds', async () => {
    const store = open(4000);
    const { parts, queues, drop } = store;
    const rounds = upTo(6).map(async i => {
      const at = NOW + 100 * i;
      await record(parts, `c${i % 2}`, at, [`spec/${i % 3}_spec.rb`, 'spec/often_spec.rb']);
      await createSplit(parts, splitOf(`${i % 2}`, 300), at);
      const key = queueOf(`build-${i}`, 250);
      await createQueue(store, key, 250, at);
      await handOut(store, key, 250);
      await queues.repeat(queueOf(`repeat-${i}`, 250), at + 50);
    });
    await Promise.all(rounds);
    expect(leftovers(parts).length).toBeGreaterThan(10);
    for (const before of [NOW + 150, NOW + 333, NOW + 2 * HOUR]) await sweep(parts, before, drop);
    expect(leftovers(parts)).toEqual([]);
  });
});
