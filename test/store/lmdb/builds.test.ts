import { describe, expect, it } from 'vitest';
import type { NodeKey } from '../../../src/api/messages/build-key.js';
import { limits } from '../../../src/limits.js';
import { type Build, closestBuild, findBuild, lastSubsetId, listBuilds, runsRecorded, subsetsOf } from '../../../src/store/lmdb/builds.js';
import type { Store } from '../../../src/store/lmdb/open.js';
import { expire, recordRun, recordsByTable, temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);

const node: NodeKey = { commit_hash: 'abc', branch: 'main', node_total: 2, node_index: 0 };
const files = (count: number) => Array.from({ length: count }, (_, i) => ({ path: `spec/${i}_spec.rb`, time_execution: i }));

const record = (store: Store, given: Partial<NodeKey> & { project?: number; at?: number; count?: number } = {}) => {
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
    const nodes = [...subsetsOf(store, builds[0]!)].map(subset => subset.node_index);
    expect(nodes.sort((a, b) => a - b)).toEqual(indices);
  });

  it('of a node are kept 101 times and then refused, which affects nothing else', async () => {
    const store = temporaryStore();
    const runs = await Promise.all(Array.from({ length: limits.runsPerNode + 3 }, (_, i) => record(store, { at: NOW + i })));
    expect(runs.filter(run => run === 'recorded').length).toBe(101);
    expect(runs.slice(101)).toEqual(Array(3).fill('retried too often'));
    const before = findBuild(store, 1, listBuilds(store, 1, {}, 1).builds[0]!.id)!;
    expect(before).toMatchObject({ subsets: 101, updated_at: NOW + 100 });
    expect(await record(store, { node_index: 1, at: NOW + 500 })).toBe('recorded');
    expect(await record(store, { at: NOW + 501 })).toBe('retried too often');
    expect(findBuild(store, 1, before.id)).toMatchObject({ subsets: 102, updated_at: NOW + 500 });
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
    expect([...subsetsOf(store, build!)].map(({ test_files }) => test_files)).toEqual([[]]);
  });

  it('come newest first', async () => {
    const store = temporaryStore();
    for (const at of [NOW + 2, NOW, NOW + 3, NOW + 1]) await record(store, { at });
    const [build] = listBuilds(store, 1, {}, 1).builds;
    const times = [...subsetsOf(store, build!)].map(({ created_at }) => created_at);
    expect(times).toEqual([NOW + 3, NOW + 2, NOW + 1, NOW]);
  });

  it('since a moment are found by node: the last one, whatever the clock says', async () => {
    const store = temporaryStore();
    const since = (runs_before: number | null, at = 0) => lastSubsetId(store, 1, node, { runs_before, at });
    expect(since(0)).toBeNull();
    await record(store, { at: NOW });
    const first = since(0);
    // The clock was set back.
    await record(store, { at: NOW - 10 });
    await record(store, { at: NOW + 20, node_index: 1 });
    const [build] = listBuilds(store, 1, {}, 1).builds;
    const second = [...subsetsOf(store, build!)].find(({ created_at }) => created_at === NOW - 10)!;
    expect(since(1)).toBe(second.id);
    expect(first).not.toBe(second.id);
    expect(since(2)).toBeNull();
    // Of an older store only the time is known.
    expect([since(null, NOW - 10), since(null, NOW - 9)]).toEqual([second.id, null]);
    expect(lastSubsetId(store, 2, node, { runs_before: 0, at: 0 })).toBeNull();
  });

  it('of a build of an older store are counted on, though the old ones expire meanwhile', async () => {
    const store = temporaryStore();
    for (const at of [NOW, NOW + 1, NOW + 2]) await record(store, { at });
    const [{ number, ...build }] = listBuilds(store, 1, {}, 1).builds as [Build];
    const { recorded: _, ...older } = build;
    await store.builds.put(number, older);
    const runs_before = runsRecorded(older);
    await expire(store, NOW + 2);
    const later = NOW + 2 * limits.lastUseUpdateMilliseconds;
    await record(store, { at: later });
    expect(lastSubsetId(store, 1, node, { runs_before, at: later })).not.toBeNull();
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
    expect(findBuild(store, 1, theirs!.id)).toBeNull();
    expect(findBuild(store, 1, ours!.id)).toEqual(ours);
    expect(listBuilds(store, 3, {}, 1)).toEqual({ total: 0, builds: [] });
  });
});

describe('the closest build', () => {
  it('is of the triple, else the newest of branch and node_total, of the branch, of the project', async () => {
    const store = temporaryStore();
    const given: [Partial<NodeKey>, number][] = [
      [{ commit_hash: 'c1', branch: 'main', node_total: 2 }, 0],
      [{ commit_hash: 'c2', branch: 'main', node_total: 2 }, 10],
      [{ commit_hash: 'c3', branch: 'main', node_total: 4 }, 20],
      [{ commit_hash: 'c4', branch: 'next', node_total: 8 }, 30],
    ];
    for (const [key, at] of given) await record(store, { ...key, at: NOW + at });
    const closest = (commit_hash: string, branch: string, node_total: number) =>
      closestBuild(store, 1, { commit_hash, branch, node_total })?.commit_hash;
    expect(closest('c1', 'main', 2)).toBe('c1');
    expect(closest('new', 'main', 2)).toBe('c2');
    expect(closest('c1', 'main', 4)).toBe('c3');
    expect(closest('new', 'main', 16)).toBe('c3');
    expect(closest('new', 'other', 2)).toBe('c4');
    expect(closestBuild(store, 2, node)).toBeNull();
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
