import { describe, expect, it } from 'vitest';
import type { NodeKey } from '../../../src/engine/build-key.js';
import { limits } from '../../../src/limits.js';
import { lmdbBuilds } from '../../../src/store/lmdb/builds.js';
import type { Parts } from '../../../src/store/lmdb/parts.js';
import { expire, listBuilds, recordRun, recordsByTable, runsOfBuild, temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);

const node: NodeKey = { commit_hash: 'abc', branch: 'main', node_total: 2, node_index: 0 };
const files = (count: number) => Array.from({ length: count }, (_, i) => ({ path: `spec/${i}_spec.rb`, time_execution: i }));

const record = (store: Parts, given: Partial<NodeKey> & { project?: number; at?: number; count?: number } = {}) => {
  const { project = 1, at = NOW, count = 1, ...key } = given;
  return recordRun(store, project, { ...node, ...key }, files(count), at);
};

describe('recorded runs', () => {
  it('of one triple make one build, however many nodes record at once', async () => {
    const store = temporaryStore();
    const indices = Array.from({ length: 40 }, (_, i) => i);
    const recorded = await Promise.all(indices.map(node_index => record(store, { node_total: 40, node_index })));
    expect(new Set(recorded)).toEqual(new Set(['recorded']));
    const { total, builds } = listBuilds(store, 1, {}, 1);
    expect([total, builds.length]).toEqual([1, 1]);
    expect(builds[0]).toMatchObject({ subsets: 40, test_files: 40, created_at: NOW, updated_at: NOW });
    const nodes = runsOfBuild(store, builds[0]!).map(subset => subset.node_index);
    expect(nodes.sort((a, b) => a - b)).toEqual(indices);
  });

  it('of a node are kept 101 times and then refused, which affects nothing else', async () => {
    const store = temporaryStore();
    const runs = await Promise.all(Array.from({ length: limits.runsPerNode + 3 }, (_, i) => record(store, { at: NOW + i })));
    expect(runs.filter(run => run === 'recorded').length).toBe(101);
    expect(runs.slice(101)).toEqual(Array(3).fill('retried too often'));
    const before = lmdbBuilds(store).get(1, listBuilds(store, 1, {}, 1).builds[0]!.id)!;
    expect(before).toMatchObject({ subsets: 101, updated_at: NOW + 100 });
    expect(await record(store, { node_index: 1, at: NOW + 500 })).toBe('recorded');
    expect(await record(store, { at: NOW + 501 })).toBe('retried too often');
    expect(lmdbBuilds(store).get(1, before.id)).toMatchObject({ subsets: 102, updated_at: NOW + 500 });
  });

  it('of a node are taken again when its old ones have expired', async () => {
    const store = temporaryStore();
    await Promise.all(Array.from({ length: limits.runsPerNode }, (_, i) => record(store, { at: NOW + i })));
    expect(await record(store, { at: NOW + 200 })).toBe('retried too often');
    await expire(store, NOW + 2);
    const later = NOW + 2 * limits.lastUseUpdateMilliseconds;
    const runs = [await record(store, { at: later }), await record(store, { at: later + 1 })];
    expect([...runs, await record(store, { at: later + 2 })]).toEqual(['recorded', 'recorded', 'retried too often']);
  });

  it('that a client sends again word for word are known; others are not', async () => {
    const store = temporaryStore();
    const send = (count: number, isRetry: boolean) => recordRun(store, 1, node, files(count), NOW, isRetry);
    const sent = [await send(3, true), await send(3, true), await send(3, false), await send(4, true), await send(3, true)];
    expect(sent).toEqual(['recorded', 'known', 'recorded', 'recorded', 'recorded']);
    expect(listBuilds(store, 1, {}, 1).builds[0]).toMatchObject({ subsets: 4, test_files: 13 });
  });

  it('that come much later are others, however alike and said to be sent again', async () => {
    const store = temporaryStore();
    const send = (at: number) => recordRun(store, 1, node, files(3), at, true);
    expect([
      await send(NOW),
      await send(NOW + limits.retryWindowMilliseconds - 1),
      await send(NOW + limits.retryWindowMilliseconds),
    ]).toEqual(['recorded', 'known', 'recorded']);
  });

  it('of a late node that ran nothing are runs like others', async () => {
    const store = temporaryStore();
    expect(await record(store, { count: 0 })).toBe('recorded');
    const [build] = listBuilds(store, 1, {}, 1).builds;
    expect(runsOfBuild(store, build!).map(({ files: list }) => list)).toEqual([[]]);
  });

  it('come newest first', async () => {
    const store = temporaryStore();
    for (const at of [NOW + 2, NOW, NOW + 3, NOW + 1]) await record(store, { at });
    const [build] = listBuilds(store, 1, {}, 1).builds;
    const times = runsOfBuild(store, build!).map(({ created_at }) => created_at);
    expect(times).toEqual([NOW + 3, NOW + 2, NOW + 1, NOW]);
  });

  it('are listed by node in the order of recording, whatever the clock says', async () => {
    const store = temporaryStore();
    await record(store, { at: NOW });
    // The clock was set back.
    await record(store, { at: NOW - 10, count: 2 });
    await record(store, { at: NOW + 20, node_index: 1 });
    const builds = lmdbBuilds(store);
    const { number } = builds.find(1, node)!;
    const heads = builds.runs(number, 0);
    expect(heads).toMatchObject([
      { node_index: 0, run: 1, ordinal: 1, created_at: NOW, test_files: 1 },
      { node_index: 0, run: 2, ordinal: 2, created_at: NOW - 10, test_files: 2 },
    ]);
    expect(builds.runs(number).map(({ ordinal }) => ordinal)).toEqual([1, 2, 3]);
    expect(builds.find(2, node)).toBeNull();
  });

  it('are read whole, or from one test file to another', async () => {
    const store = temporaryStore();
    await record(store, { count: 5 });
    const builds = lmdbBuilds(store);
    const { number } = builds.find(1, node)!;
    const read = (from?: number, to?: number) => builds.run(number, { node_index: 0, run: 1 }, from, to)!;
    expect([...read().seconds]).toEqual([0, 1, 2, 3, 4]);
    expect(read(1, 3)).toMatchObject({ test_files: 5, paths: ['spec/1_spec.rb', 'spec/2_spec.rb'] });
    expect([read(3, 99).paths.length, read(5, 9).paths.length, read(7, 9).paths.length]).toEqual([2, 0, 0]);
    expect(builds.run(number, { node_index: 0, run: 2 })).toBeNull();
  });

  it('of a build of an older store are counted on, though the old ones expire meanwhile', async () => {
    const store = temporaryStore();
    for (const at of [NOW, NOW + 1, NOW + 2]) await record(store, { at });
    const { number } = listBuilds(store, 1, {}, 1).builds[0]!;
    const { recorded: _, ...older } = store.builds.get(number)!;
    await store.builds.put(number, older);
    const builds = lmdbBuilds(store);
    const { recorded } = builds.find(1, node)!;
    await expire(store, NOW + 2);
    await record(store, { at: NOW + 2 * limits.lastUseUpdateMilliseconds });
    expect(builds.runs(number).at(-1)!.ordinal).toBe(recorded + 1);
  });
});

describe('the list of builds', () => {
  it('has 100 a page, newest first and then by id, each build on one page', async () => {
    const store = temporaryStore();
    const commits = Array.from({ length: 205 }, (_, i) => i);
    await Promise.all(commits.map(i => record(store, { commit_hash: `c${i}`, at: NOW + Math.floor(i / 3) })));
    const pages = [1, 2, 3, 4].map(page => listBuilds(store, 1, {}, page));
    expect(pages.map(({ total, builds }) => [total, builds.length])).toEqual([
      [205, 100],
      [205, 100],
      [205, 5],
      [205, 0],
    ]);
    const all = pages.flatMap(({ builds }) => builds);
    const sorted = [...all].sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
    expect(all).toEqual(sorted);
    expect(new Set(all.map(({ id }) => id)).size).toBe(205);
  });

  it('shows a project its own builds only', async () => {
    const store = temporaryStore();
    await record(store, { project: 1 });
    await record(store, { project: 2 });
    const [ours, theirs] = [1, 2].map(project => listBuilds(store, project, {}, 1).builds[0]);
    expect(ours!.id).not.toBe(theirs!.id);
    expect(lmdbBuilds(store).get(1, theirs!.id)).toBeNull();
    expect(lmdbBuilds(store).get(1, ours!.id)).toEqual(ours);
    expect(listBuilds(store, 3, {}, 1)).toEqual({ total: 0, builds: [] });
  });
});

describe('builds that expire', () => {
  it('keep a build that still has runs under its first id', async () => {
    const store = temporaryStore();
    await record(store, { at: NOW });
    await record(store, { at: NOW + 100, node_index: 1 });
    const [before] = listBuilds(store, 1, {}, 1).builds;
    await expire(store, NOW + 50);
    const [after] = listBuilds(store, 1, {}, 1).builds;
    expect(after).toEqual({ ...before!, subsets: 1, test_files: 1 });
    expect(recordsByTable(store)).toMatchObject({ builds: 1, buildNumbers: 2, subsets: 1, buildIndex: 8, buildCounts: 8, buildGaps: 0 });
  });
});
