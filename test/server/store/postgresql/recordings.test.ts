import { describe, expect, it, vi } from 'vitest';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { newRun } from '../../../../src/server/engine/recordings.js';
import { BOUNDS } from '../../../../src/server/store/postgresql/connection/options.js';
import { PATHS_PER_CHANGE } from '../../../../src/server/store/postgresql/paths.js';
import { FILES_PER_STATEMENT } from '../../../../src/server/store/postgresql/recordings.js';
import { cluster, emptyDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { waitingCaller, whenSaved } from '../../../testbed/waiting.js';
import { BUILD, buildsOf, files, HOUR, NOW, newProject, record, upTo } from '../contract/fixtures.js';

async function opened(processes: number): Promise<[project: number, ...stores: Store[]]> {
  const url = await emptyDatabase();
  const stores = await Promise.all(upTo(processes).map(() => openedStore(url)));
  return [await newProject(stores[0]!), ...stores];
}

describe.skipIf(cluster === null)('recordings in processes on one database', () => {
  it('record a run once that its client repeated at another process, while the first one stood still', async () => {
    const [project, one, other] = await opened(2);
    expect(await record(other!, project, files(3), { isRetry: true, at: NOW + 15_000 })).toBe('recorded');
    expect(await record(one!, project, files(3), { at: NOW })).toBe('recorded');
    expect(await record(one!, project, files(3), { at: NOW, ci_build_id: '7' })).toBe('recorded');
    expect(await buildsOf(one!, project)).toMatchObject([{ recorded: 2, subsets: 2, test_files: 6 }]);
    // A run that comes later is another one.
    expect(await record(one!, project, files(3), { at: NOW + HOUR, ci_build_id: '7' })).toBe('recorded');
    expect(await buildsOf(one!, project)).toMatchObject([{ recorded: 3 }]);
  });

  it('record each of two equal runs that come at about the same time, the later one first', async () => {
    const [project, one, other] = await opened(2);
    expect(await record(other!, project, files(3), { at: NOW + 800 })).toBe('recorded');
    expect(await record(one!, project, files(3), { at: NOW })).toBe('recorded');
    expect(await buildsOf(one!, project)).toMatchObject([{ recorded: 2, subsets: 2 }]);
  });

  it('record a run once whose repetition overtakes it', async () => {
    const [project, one, other] = await opened(2);
    expect(await record(other!, project, files(3), { isRetry: true, at: NOW + 100 })).toBe('recorded');
    expect(await record(one!, project, files(3), { at: NOW })).toBe('recorded');
    expect(await buildsOf(one!, project)).toMatchObject([{ recorded: 1, subsets: 1 }]);
  });

  it('record a run once that a process reads after it stood still, when the client has left and another process recorded its repetition', async () => {
    const [project, one, other] = await opened(2);
    const hasLeft = () => true;
    expect(await record(other!, project, files(3), { isRetry: true, at: NOW + 15_000 })).toBe('recorded');
    expect(await record(one!, project, files(3), { at: NOW + 60_000, hasLeft })).toBe('recorded');
    expect(await buildsOf(one!, project)).toMatchObject([{ subsets: 1, test_files: 3 }]);
    // Another run of the node, and one of which there is no other.
    expect(await record(one!, project, files(2), { at: NOW + 60_000, hasLeft })).toBe('recorded');
    expect(await record(one!, project, files(1), { at: NOW + 60_000, hasLeft, node_index: 1 })).toBe('recorded');
    expect(await buildsOf(one!, project)).toMatchObject([{ subsets: 3, test_files: 6 }]);
  });

  it('number a path once, and use no number for one that they find', async () => {
    const [project, one, other] = await opened(2);
    await record(one!, project, files(3));
    await record(other!, project, files(3), { node_index: 1 });
    await record(other!, project, files(4), { node_index: 2 });
    expect((await one!.timings.all(1, 10)).map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  });

  it('refuse a run whose client gave up waiting', async () => {
    const [project, store] = await opened(1);
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const recording = record(store!, project, files(1));
      vi.advanceTimersByTime(BOUNDS.wait);
      await expect(recording).rejects.toMatchObject({ reason: 'database' });
    } finally {
      vi.useRealTimers();
    }
    expect(await buildsOf(store!, project)).toEqual([]);
  });

  it('create builds of one project in five processes at once, each without waiting for long', async () => {
    const [project, ...stores] = await opened(5);
    const builds = upTo(600);
    const begun = performance.now();
    const outcomes = await Promise.all(builds.map(i => record(stores[i % 5]!, project, files(1), { commit_hash: `c${i}` })));
    expect(performance.now() - begun).toBeLessThan(BOUNDS.wait);
    expect(new Set(outcomes)).toEqual(new Set(['recorded']));
    const total = await stores[0]!.builds.count(project, {});
    expect(total).toBe(builds.length);
  });

  it('fail a run that the database refuses, and no other one of its group', async () => {
    const [project, store] = await opened(1);
    const outcomes = await Promise.allSettled(
      upTo(8).map(i => record(store!, project, files(1), i === 3 ? { node_total: 2 ** 40 } : { commit_hash: `c${i % 4}`, node_index: i })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(upTo(8).map(i => (i === 3 ? 'rejected' : 'fulfilled')));
    expect((await buildsOf(store!, project)).reduce((sum, { recorded }) => sum + recorded, 0)).toBe(7);
  });

  it('let the runs of others pass while the paths of a large run are numbered, and those of its node wait', async () => {
    const [project, store] = await opened(1);
    const other = await newProject(store!, 'api');
    const ended: string[] = [];
    const recorded = [
      record(store!, project, files(20 * PATHS_PER_CHANGE)).then(() => ended.push('large')),
      record(store!, project, files(2), { at: NOW + HOUR }).then(() => ended.push('next of its node')),
      record(store!, project, files(1), { node_index: 1 }).then(() => ended.push('another node')),
      record(store!, other, files(1)).then(() => ended.push('another project')),
    ];
    await Promise.all(recorded);
    expect(ended.slice(0, 2).sort()).toEqual(['another node', 'another project']);
    expect(ended.slice(2)).toEqual(['large', 'next of its node']);
    const [build] = await buildsOf(store!, project);
    expect((await store!.builds.runs(build!.number, 0)).map(({ test_files }) => test_files)).toEqual([20 * PATHS_PER_CHANGE, 2]);
  });

  it('refuse a large run when its client has given up waiting, and go on with its paths when that repeats it', async () => {
    const [project, store] = await opened(1);
    const large = files(20 * PATHS_PER_CHANGE);
    const known = async () => (await store!.timings.all(1, 20 * PATHS_PER_CHANGE)).length;
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const recording = record(store!, project, large);
      recording.catch(() => {});
      await expect.poll(known).toBeGreaterThan(0);
      vi.advanceTimersByTime(BOUNDS.wait);
      await expect(recording).rejects.toMatchObject({ reason: 'database' });
    } finally {
      vi.useRealTimers();
    }
    const numbered = await known();
    expect(numbered).toBeLessThan(20 * PATHS_PER_CHANGE);
    expect(await record(store!, project, large, { isRetry: true })).toBe('recorded');
    expect(await known()).toBe(20 * PATHS_PER_CHANGE);
    expect(await buildsOf(store!, project)).toMatchObject([{ recorded: 1 }]);
  });

  it('record runs of more files than one statement takes', async () => {
    const [project, store] = await opened(1);
    const run = newRun(upTo(0.6 * FILES_PER_STATEMENT).map(i => ({ path: `spec/${i}_spec.rb`, time_execution: 1 })));
    const recorded = upTo(2).map(node_index =>
      whenSaved(store!.recordings.record(project, { ...BUILD, node_index }, run, waitingCaller, NOW)),
    );
    expect(new Set(await Promise.all(recorded))).toEqual(new Set(['recorded']));
    expect(await buildsOf(store!, project)).toMatchObject([{ recorded: 2, test_files: 1.2 * FILES_PER_STATEMENT }]);
  });
});
