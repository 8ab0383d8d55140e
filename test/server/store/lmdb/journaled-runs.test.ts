import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { NodeKey } from '../../../../src/server/engine/keys.js';
import { suiteOf } from '../../../../src/server/engine/suites/suite.js';
import { openLog } from '../../../../src/server/process/log.js';
import { serveFolder } from '../../../../src/server/store/lmdb/folder/serve-folder.js';
import type { LmdbStore } from '../../../../src/server/store/lmdb/store.js';
import { STORE_FILE } from '../../../../src/server/store/lmdb/tables.js';
import { recordRun } from '../../../harness/recording.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { newJournal, temporaryStore } from './temporary-store.js';

const NOW = 1_800_000_000_000;
const BUILD = { commit_hash: 'abc', branch: 'main', node_total: 4 };
const node = (node_index: number, commit_hash = 'abc'): NodeKey => ({ ...BUILD, commit_hash, node_index });
const times = (seconds: number) => [{ path: 'a_spec.rb', time_execution: seconds }];

/** Recorded runs stay in the journal until somebody reads them. */
function withoutTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

async function serve(folder = temporaryFolder()): Promise<LmdbStore> {
  const store = await serveFolder(folder, openLog('silent'));
  onTestFinished(() => store.close());
  return store;
}

/** A store with one run of node 0, in its journal. */
async function serveRun(): Promise<LmdbStore> {
  withoutTimers();
  const store = await serve();
  await recordRun(store, 1, node(0), times(5), NOW);
  return store;
}

/** The folder as a killed process leaves it: without what it has in memory only. */
function afterKill(store: LmdbStore): string {
  const folder = temporaryFolder();
  cpSync(store.parts.journal.files.folder, folder, { recursive: true, filter: path => !basename(path).includes('lock') });
  return folder;
}

async function runsOf({ builds }: LmdbStore, key = BUILD): Promise<[node_index: number, run: number, ordinal: number][]> {
  const build = await builds.find(1, key);
  return build ? (await builds.runs(build.number)).map(({ node_index, run, ordinal }) => [node_index, run, ordinal]) : [];
}

const secondsOf = async ({ timings }: LmdbStore) => (await timings.estimates(1, 'main', suiteOf(['a_spec.rb']), 0)).seconds[0];

describe('a run that was recorded', () => {
  it('is in the journal only, and there for everybody who reads it', async () => {
    withoutTimers();
    const store = await serve();
    expect(await recordRun(store, 1, node(0), times(5), NOW)).toBe('recorded');
    expect(store.parts.builds.getCount()).toBe(0);
    expect(await runsOf(store)).toEqual([[0, 1, 1]]);
    expect(store.parts.builds.getCount()).toBe(1);
    expect(await secondsOf(store)).toBe(5);
  });

  it('is in the tables after some milliseconds, whether anybody reads it or not', async () => {
    const store = await serve();
    await recordRun(store, 1, node(0), times(5), NOW);
    await expect.poll(() => store.parts.builds.getCount(), { interval: 1 }).toBe(1);
  });

  it('is put by the next transaction, whatever that does', async () => {
    const store = await serveRun();
    await store.values.put('clock', NOW);
    expect(store.parts.builds.getCount()).toBe(1);
  });

  it('is there after a kill, once, with its times', async () => {
    withoutTimers();
    const first = await serve();
    await recordRun(first, 1, node(0), times(4), NOW);
    await runsOf(first);
    await recordRun(first, 1, node(1), times(6), NOW + 1);
    await recordRun(first, 1, node(2, 'def'), times(8), NOW + 2);
    const folder = afterKill(first);

    const second = await serve(folder);
    expect(second.parts.builds.getCount()).toBe(2);
    expect(await runsOf(second)).toEqual([
      [0, 1, 1],
      [1, 1, 2],
    ]);
    expect(await runsOf(second, { ...BUILD, commit_hash: 'def' })).toEqual([[2, 1, 1]]);
    expect(await secondsOf(second)).toBe(await secondsOf(first));
    await second.parts.timingBuffer.save();
    expect(second.parts.pendingRuns.getCount()).toBe(0);
    await recordRun(second, 1, node(3), times(6), NOW + 3);
    const third = await serve(afterKill(second));
    expect(await runsOf(third)).toEqual([
      [0, 1, 1],
      [1, 1, 2],
      [3, 1, 3],
    ]);
    expect(await secondsOf(third)).toBe(await secondsOf(second));
  });

  it('is one of two of its node when both are recorded at the same time', async () => {
    withoutTimers();
    const store = await serve();
    const recorded = await Promise.all([1, 2, 3].map(seconds => recordRun(store, 1, node(0), times(seconds), NOW)));
    expect(recorded).toEqual(['recorded', 'recorded', 'recorded']);
    expect((await runsOf(store)).map(([, run]) => run)).toEqual([1, 2, 3]);
  });

  it('is already recorded while the transaction that puts it is not committed', async () => {
    const store = await serveRun();
    const other = store.values.put('clock', NOW);
    const again: Promise<string>[] = [];
    let isCommitted = false;
    // The transaction has put the run, and no reader sees it yet.
    store.parts.root.on('beforecommit', () => void (isCommitted || again.push(recordRun(store, 1, node(0), times(5), NOW + 1, true))));
    await other;
    isCommitted = true;
    expect(new Set(await Promise.all(again))).toEqual(new Set(['already recorded']));
    expect(await runsOf(store)).toEqual([[0, 1, 1]]);
  });

  it.each([
    [
      'many other builds recorded',
      async (store: LmdbStore) => {
        const commits = Array.from({ length: 4000 }, (_, i) => `c${i}`);
        await Promise.all(commits.map(commit => recordRun(store, 1, node(0, commit), times(5), NOW)));
        return store;
      },
    ],
    ['a start', async (store: LmdbStore) => serve(afterKill(store))],
  ])('is one of two of its node when %s in between', async (_, between) => {
    const first = await serve();
    await recordRun(first, 1, node(0), times(5), NOW);
    await first.parts.runs.settle();
    const store = await between(first);
    expect(await recordRun(store, 1, node(0), times(6), NOW + 1)).toBe('recorded');
    expect(await recordRun(store, 1, node(1), times(7), NOW + 2)).toBe('recorded');
    expect(await runsOf(store)).toEqual([
      [0, 1, 1],
      [0, 2, 2],
      [1, 1, 3],
    ]);
  });

  it('is put at once when it is large, after those before it', async () => {
    const store = await serveRun();
    const many = Array.from({ length: 8000 }, (_, i) => ({ path: `spec/${i}_spec.rb`, time_execution: 1 }));
    expect(await recordRun(store, 1, node(1), many, NOW)).toBe('recorded');
    expect(store.parts.subsets.getCount()).toBe(2);
    expect(await runsOf(store)).toEqual([
      [0, 1, 1],
      [1, 1, 2],
    ]);
  });

  it.each([
    ['before the copy', async (store: LmdbStore) => void (await runsOf(store))],
    ['not at all', async () => {}],
  ])('is in a backup when the tables get it %s', async (_, between) => {
    const store = await serveRun();
    const reader = newJournal(store.parts);
    reader.read();
    await between(store);
    const folder = temporaryFolder();
    await store.parts.root.backup(join(folder, STORE_FILE), true);
    const copy = temporaryStore(folder);
    await reader.complete(copy);
    expect([...copy.subsets.getKeys()]).toEqual([[1, 0, 1]]);
    expect(copy.pendingRuns.getCount()).toBe(1);
  });
});
