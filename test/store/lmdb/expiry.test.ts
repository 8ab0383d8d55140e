import { describe, expect, it } from 'vitest';
import type { QueueKey, SplitKey } from '../../../src/engine/keys.js';
import type { Split } from '../../../src/engine/ports/splits.js';
import { toSegments } from '../../../src/engine/segments.js';
import { limits } from '../../../src/limits.js';
import { expireStep } from '../../../src/store/lmdb/expiry.js';
import type { Parts } from '../../../src/store/lmdb/parts.js';
import { LmdbQueues } from '../../../src/store/lmdb/queues.js';
import { lmdbSplits } from '../../../src/store/lmdb/splits.js';
import {
  estimatesOf,
  expire,
  FORECAST,
  LIST,
  leftovers,
  listBuilds,
  NOBODY,
  queueOf,
  recordRun,
  recordsByTable,
  recordTimes,
  secondsOf,
  settle,
  splitOf,
  temporaryStore,
} from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const triple = { commit_hash: 'abc', branch: 'main', node_total: 2 };

/** What one step may delete of large things: "about" the limit. */
const MOST = 2 * limits.expiredPerStep + 10;

const split = (store: Parts, key: SplitKey, name: string, at = NOW): Promise<Split> =>
  lmdbSplits(store).create(
    key,
    {
      people: NOBODY,
      list: LIST,
      files: toSegments(Array.from({ length: key.build.node_total }, (_, node) => `["${name}",${node}]`)),
      forecast: FORECAST,
    },
    at,
  );

/** With so many nodes that every file is a batch of its own. */
function queue(queues: LmdbQueues, key: QueueKey, files: number, at = NOW): Promise<boolean> {
  const estimates = estimatesOf(
    Array.from({ length: files }, (_, i) => `${i}`),
    10_000,
  );
  const { weights } = estimates;
  return queues.create(
    key,
    { people: NOBODY, list: LIST, files: queues.encode(estimates), weights, guessed: false, forecast: FORECAST },
    at,
  );
}

const filesLeft = (queues: LmdbQueues, key: QueueKey): Promise<number | null> =>
  queues.update(
    key,
    () => null,
    ({ queue: state }) => ({ value: state.filesLeft, changes: [] }),
    NOW,
  );

/** Hands out so many files, each in a batch of its own. */
async function handOut(queues: LmdbQueues, key: QueueKey, files: number): Promise<void> {
  await Promise.all(Array.from({ length: files }, (_, i) => pull(queues, key, i, `u-${i}`)));
  await queues.parts.journal.checkpoint();
}

function pull(queues: LmdbQueues, key: QueueKey, node_index: number, batch_uuid: string | null): Promise<number | null> {
  const request = { node_index, run: 'run', batch_uuid, isRetry: false, isFirstRequest: false, wantsLastSplit: false };
  return queues.update(
    key,
    () => null,
    ({ queue: state }) => {
      const { batch } = state.pull({ ...request, recordedSubset: null, hasLeft: () => false }, NOW)!;
      return { value: batch.seq, changes: [batch] };
    },
    NOW,
  );
}

const subset = (store: Parts, commit_hash: string, at: number) => recordRun(store, 1, { ...triple, commit_hash, node_index: 0 }, [], at);

const timings = (store: Parts, paths: readonly string[], at: number) =>
  recordTimes(store, 1, Object.fromEntries(paths.map(path => [path, 3])), at);

const records = (store: Parts) => Object.values(recordsByTable(store)).reduce((sum, count) => sum + count, 0);

/** Sweeps to the end; how many records each step deleted. */
async function sweep(store: Parts, before: number, dropped: (queue: string) => void = () => {}): Promise<number[]> {
  const deleted: number[] = [];
  let left = records(store);
  const stepped = () => {
    deleted.push(left - records(store));
    left = records(store);
  };
  await expire(store, before, { dropped, stepped });
  return deleted;
}

/** Paths are kept so long after they were recorded last. */
const HOUR = limits.lastUseUpdateMilliseconds;

describe('the expiry of a queue', () => {
  const key = queueOf('build-1', 128_000);

  it('makes it unreachable at the first step, and deletes thousands of records piece by piece', async () => {
    const store = temporaryStore();
    const queues = new LmdbQueues(store, { cacheBytes: 1e9, pullCost: 0, lease: null });
    await queue(queues, key, 128_000);
    for (let filings = 0; filings < 10; filings++) await handOut(queues, key, 20);
    expect(recordsByTable(store)).toMatchObject({ blobs: 2001, batches: 10, journalTurns: 0 });

    const dropped: string[] = [];
    const drop = (of: string) => {
      dropped.push(of);
      queues.drop(of);
    };
    expect(await expireStep(store, NOW + 1, drop)).toBe(true);
    expect(queues.find(key)).toBeNull();
    expect(await filesLeft(queues, key)).toBeNull();
    expect(store.blobs.getCount()).toBeGreaterThan(0);

    const deleted = await sweep(store, NOW + 1, drop);
    expect(deleted.length).toBeGreaterThan(5);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(MOST);
    expect(dropped).toEqual([key.digest]);
    expect(leftovers(store)).toEqual([]);
  });

  it('spares a new queue that the same build made while the old one is still being deleted', async () => {
    const store = temporaryStore();
    const queues = new LmdbQueues(store, { cacheBytes: 1e9, pullCost: 0, lease: null });
    const drop = (of: string) => queues.drop(of);
    await queue(queues, key, 64_000);
    await handOut(queues, key, 100);
    expect(await expireStep(store, NOW + 1, drop)).toBe(true);
    await queue(queues, key, 5, NOW + 1000);
    await sweep(store, NOW + 1, drop);
    expect(queues.find(key)).toMatchObject({ created_at: NOW + 1000 });
    expect(queues.newest(1, key.build)).toEqual(queues.find(key));
    expect(await filesLeft(queues, key)).toBe(5);
    expect(recordsByTable(store)).toMatchObject({ queues: 1, blobs: 2, batches: 0 });
  });

  it('leaves nothing of an answer that was written meanwhile', async () => {
    const store = temporaryStore();
    const queues = new LmdbQueues(store, { cacheBytes: 1e9, pullCost: 0, lease: null });
    await queue(queues, key, 5);
    const seq = await pull(queues, key, 0, null);
    await sweep(store, NOW + 1, of => queues.drop(of));
    await settle(queues, key, seq!, true);
    await settle(queues, key, seq!, false);
    expect(leftovers(store)).toEqual([]);
  });

  it('leaves the copy that repeats it, which goes as its own time comes', async () => {
    const store = temporaryStore();
    const queues = new LmdbQueues(store, { cacheBytes: 1e9, pullCost: 0, lease: null });
    const later = queueOf('build-2', 128_000);
    await queue(queues, key, 5);
    expect(await queues.repeat(later, NOW + 1000)).toBe(true);
    await sweep(store, NOW + 500, of => queues.drop(of));
    expect([queues.find(key), queues.find(later)]).toEqual([null, expect.objectContaining({ copied_at: NOW + 1000 })]);
    expect(await filesLeft(queues, later)).toBe(5);
    await sweep(store, NOW + 2000, of => queues.drop(of));
    expect(leftovers(store)).toEqual([]);
  });
});

describe('the expiry of a split', () => {
  it('makes it unreachable at the first step, and deletes thousands of nodes piece by piece', async () => {
    const store = temporaryStore();
    const key = splitOf(null, 3000);
    await split(store, key, 'split-1');
    expect(await expireStep(store, NOW + 1, () => {})).toBe(true);
    expect(lmdbSplits(store).find(key)).toBeNull();
    expect(store.blobs.getCount()).toBeGreaterThan(0);
    const deleted = await sweep(store, NOW + 1);
    expect(deleted.length).toBeGreaterThan(5);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(MOST);
    expect(leftovers(store)).toEqual([]);
  });

  it('spares a new split that was made while the old one is still being deleted', async () => {
    const store = temporaryStore();
    const key = splitOf(null, 1000);
    await split(store, key, 'old');
    expect(await expireStep(store, NOW + 1, () => {})).toBe(true);
    const made = await split(store, key, 'new', NOW + 1000);
    await sweep(store, NOW + 1);
    const splits = lmdbSplits(store);
    expect(splits.find(key)).toEqual(made);
    expect([0, 1, 2].map(node => splits.files(made, node)!.toString())).toEqual(['["new",0]', '["new",1]', '["new",2]']);
    expect(store.blobs.getCount()).toBe(1000);
  });
});

describe('the expiry of timings', () => {
  it('keeps those that were renewed, until their last time is due', async () => {
    const store = temporaryStore();
    await timings(store, ['a_spec.rb', 'b_spec.rb'], NOW);
    await timings(store, ['a_spec.rb'], NOW + 2 * HOUR);
    await sweep(store, NOW + HOUR + 1);
    expect(secondsOf(store, 1, ['a_spec.rb', 'b_spec.rb'])).toEqual([3, null]);
    expect(store.pathNames.getCount()).toBe(1);
    await sweep(store, NOW + 3 * HOUR);
    expect(secondsOf(store, 1, ['a_spec.rb'])).toEqual([3]);
    await sweep(store, NOW + 3 * HOUR + 1);
    expect(leftovers(store)).toEqual([]);
  });

  it('looks at no more than a step’s worth at once, whether renewed or not', async () => {
    const store = temporaryStore();
    const paths = Array.from({ length: 3 * limits.pathsPerStep + 1 }, (_, i) => `spec/${i}_spec.rb`);
    await timings(store, paths, NOW);
    await timings(store, paths.slice(0, 2000), NOW + 2 * HOUR);
    const deleted = await sweep(store, NOW + HOUR + 1);
    // Each with its path and its name.
    expect(Math.max(...deleted)).toBeLessThanOrEqual(3 * limits.pathsPerStep);
    expect(deleted.length).toBeGreaterThan(3);
    const known = secondsOf(store, 1, paths);
    expect([known.slice(0, 2000).includes(null), known.slice(2000).some(seconds => seconds !== null)]).toEqual([false, false]);
    await sweep(store, NOW + 3 * HOUR + 1);
    expect(leftovers(store)).toEqual([]);
  });
});

describe('the expiry sweep', () => {
  it('deletes nothing that is as old as the retention, or younger', async () => {
    const store = temporaryStore();
    await subset(store, 'old', NOW - 1);
    await subset(store, 'edge', NOW);
    await subset(store, 'young', NOW + 1);
    await sweep(store, NOW);
    expect(listBuilds(store, 1, {}, 1).builds.map(({ commit_hash }) => commit_hash)).toEqual(['young', 'edge']);
  });

  it('has nothing to do in an empty store', async () => {
    expect(await expireStep(temporaryStore(), NOW, () => {})).toBe(false);
  });

  it('takes a bounded number of builds at a step', async () => {
    const store = temporaryStore();
    await Promise.all(Array.from({ length: 500 }, (_, i) => subset(store, `c${i}`, NOW + i)));
    await store.timingBuffer.save();
    const left: number[] = [500];
    while (await expireStep(store, NOW + 1000, () => {})) left.push(listBuilds(store, 1, {}, 1).total);
    for (let i = 1; i < left.length; i++) expect(left[i - 1]! - left[i]!).toBeLessThanOrEqual(limits.expiredPerStep);
    expect(leftovers(store)).toEqual([]);
  });

  it('leaves nothing behind of a store in which everything happened', async () => {
    const store = temporaryStore();
    const queues = new LmdbQueues(store, { cacheBytes: 4000, pullCost: 0, lease: null });
    const rounds = [0, 1, 2, 3, 4, 5].map(async i => {
      const at = NOW + 100 * i;
      await subset(store, `c${i % 2}`, at);
      await timings(store, [`spec/${i % 3}_spec.rb`, 'spec/often_spec.rb'], at);
      await split(store, splitOf(`${i % 2}`, 300), `split-${i}`, at);
      const own = queueOf(`build-${i}`, 250);
      await queue(queues, own, 250, at);
      await handOut(queues, own, 250);
      await queues.repeat(queueOf(`repeat-${i}`, 250), at + 50);
    });
    await Promise.all(rounds);
    expect(leftovers(store).length).toBeGreaterThan(10);
    for (const before of [NOW + 150, NOW + 333, NOW + 2 * HOUR]) await sweep(store, before, of => queues.drop(of));
    expect(leftovers(store)).toEqual([]);
  });
});
