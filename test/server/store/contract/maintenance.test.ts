import { describe, expect, it } from 'vitest';
import { queueKey, splitKey } from '../../../../src/server/engine/keys.js';
import {
  BUILD,
  buildFailures,
  buildsOf,
  DAY,
  files,
  HOUR,
  NOW,
  newProject,
  newQueue,
  newSplit,
  pull,
  pullAll,
  record,
  secondsOf,
  sparedCiRun,
  summaryOf,
  sweep,
  upTo,
} from './fixtures.js';
import { stores } from './stores.js';

describe.each(stores)('a store in $name', ({ open, opened }) => {
  it('sweeps runs that are older than a time, and builds with their last run', async () => {
    const { store, project } = await opened();
    for (const [commit_hash, node_index, at] of [
      ['old', 0, NOW - 1],
      ['both', 0, NOW - 1],
      ['both', 1, NOW + 2],
      ['edge', 0, NOW],
      ['young', 0, NOW + 1],
    ] as const)
      await record(store, project, files(2), { commit_hash, node_index, at });
    const both = (await store.builds.find(project, { ...BUILD, commit_hash: 'both' }))!;
    expect(await sweep(store, NOW)).toEqual({ subset: 2 });
    expect((await buildsOf(store, project)).map(({ commit_hash }) => commit_hash)).toEqual(['young', 'edge', 'both']);
    expect(await store.builds.get(project, both.id)).toEqual({ ...both, subsets: 1, test_files: 2 });
    expect(await store.builds.run(both.number, { node_index: 0, run: 1 })).toBeNull();
    expect((await store.builds.runs(both.number)).map(({ node_index }) => node_index)).toEqual([1]);
  });

  it('sweeps paths that were last recorded before a time, measured or not', async () => {
    const { store, project } = await opened();
    await record(store, project, { 'a_spec.rb': 3, 'b_spec.rb': 3 });
    await record(store, project, { 'a_spec.rb': 0 }, { commit_hash: 'later', at: NOW + DAY });
    expect(await sweep(store, NOW + 2 * HOUR)).toEqual({ subset: 1, path: 1 });
    expect(await secondsOf(store, project, ['a_spec.rb', 'b_spec.rb'])).toEqual([3, null]);
    expect((await store.timings.all(0, 10)).map(({ path }) => path)).toEqual(['a_spec.rb']);
    expect(await sweep(store, NOW + DAY)).toEqual({});
    expect(await sweep(store, NOW + DAY + 2 * HOUR)).toEqual({ subset: 1, path: 1 });
    expect(await store.timings.all(0, 10)).toEqual([]);
    await record(store, project, { 'a_spec.rb': 5 }, { at: NOW + 2 * DAY });
    expect(await secondsOf(store, project, ['a_spec.rb'])).toEqual([5]);
  });

  it('sweeps no split and no queue that is in use', async () => {
    const { store, project } = await opened();
    const split = splitKey(project, BUILD, '7', false);
    const queue = queueKey(project, BUILD, '7');
    const created = await store.splits.create(split, newSplit(split), NOW);
    await store.queues.create(queue, newQueue(20), NOW);
    await store.splits.use(split, created, NOW + DAY);
    await pull(store, queue, 0, {}, NOW + DAY);
    expect(await sweep(store, NOW + DAY)).toEqual({ ci_run: 2 });
    expect([(await store.splits.find(split))!.used_at, (await store.queues.find(queue))!.used_at]).toEqual([NOW + DAY, NOW + DAY]);
    expect(await sweep(store, NOW + DAY + 1)).toEqual({ split: 1, queue: 1 });
    expect([await store.splits.find(split), await store.queues.find(queue)]).toEqual([null, null]);
  });

  it('serves between the steps of a sweep, and keeps what is created again meanwhile', async () => {
    const { store, project } = await opened();
    const split = splitKey(project, { ...BUILD, node_total: 1001 }, '7', true);
    const queue = queueKey(project, BUILD, '7');
    await store.splits.create(split, newSplit(split), NOW);
    await store.queues.create(queue, newQueue(2000), NOW);
    await Promise.all(upTo(100).map(i => record(store, project, {}, { commit_hash: `c${i}` })));
    const deleted: string[] = [];
    for await (const _ of store.maintenance.sweep({ before: NOW + 1, deletedBefore: 0 }, kind => deleted.push(kind))) {
      await record(store, project, files(1), { at: NOW + DAY, isRetry: true });
      if ((await store.splits.find(split)) === null) await store.splits.create(split, newSplit(split), NOW + DAY);
      await store.queues.create(queue, newQueue(5), NOW + DAY);
    }
    const left = (kind: string) => deleted.filter(one => one === kind).length;
    expect([left('subset'), left('split'), left('queue')]).toEqual([100, 1, 1]);
    expect(await buildsOf(store, project)).toMatchObject([{ created_at: NOW + DAY }]);
    expect(await store.splits.find(split)).toMatchObject({ created_at: NOW + DAY });
    expect(await store.plans.files((await store.splits.find(split))!.id, 1000)).not.toBeNull();
    if ((await store.queues.find(queue)) === null) await store.queues.create(queue, newQueue(5), NOW + DAY);
    expect(await pullAll(store, queue, 0)).toHaveLength(5);
  });

  it('deletes what a deleted project recorded, however new, and nothing of another', async () => {
    const store = await open();
    const [gone, kept] = [await newProject(store, 'web'), await newProject(store, 'api')];
    const keys = [gone, kept].map(project => ({
      split: splitKey(project, BUILD, '1', false),
      fixed: splitKey(project, BUILD, '2', true),
      queue: queueKey(project, BUILD, '3'),
      copy: queueKey(project, BUILD, '4'),
    }));
    const provingIds: string[] = [];
    for (const [i, project] of [gone, kept].entries()) {
      const { split, fixed, queue, copy } = keys[i]!;
      await record(store, project, files(3));
      await record(store, project, files(3), { node_index: 1, commit_hash: 'b' });
      for (const key of [split, fixed]) await store.splits.create(key, newSplit(key), NOW);
      await store.queues.create(queue, newQueue(5), NOW);
      await pullAll(store, queue, 0);
      await store.queues.repeat(copy, NOW);
      const [build] = await buildsOf(store, project);
      await store.summaries.put(build!, summaryOf());
      await store.failures.put(build!, buildFailures());
      const links = { job_url: 'https://ci', commit_url: null, diff_url: null };
      const checkout = { tree: 'a'.repeat(40), doubt: null, keys: [] };
      await store.ciRuns.noteNodes([{ id: (await store.queues.find(queue))!.id, node_index: 0, links, checkout, command: null }]);
      const proving = (await store.ciRuns.ofTree(project, checkout.tree, 1))[0]!;
      await store.ciRuns.noteSpared(proving, sparedCiRun({ asked_at: NOW }));
      provingIds.push(proving.id);
    }
    const day = Math.floor(NOW / DAY);
    const left = async (i: number, project: number) => ({
      spared: (await store.ciRuns.spared(provingIds[i]!)).length,
      failures: (await store.failures.newest(project, 10)).length,
      builds: (await buildsOf(store, project)).length,
      splits: [await store.splits.find(keys[i]!.split), await store.splits.find(keys[i]!.fixed)].filter(Boolean).length,
      queues: [await store.queues.find(keys[i]!.queue), await store.queues.find(keys[i]!.copy)].filter(Boolean).length,
      ciRuns: (await store.ciRuns.list(project, NOW + DAY, 10)).length,
      days: (await store.summaries.days(project, null, day - 1, day + 1)).length,
      paths: (await store.timings.all(0, 10)).filter(known => known.project === project).length,
    });
    const all = { failures: 1, builds: 2, splits: 2, queues: 2, ciRuns: 4, spared: 1, days: 1, paths: 3 };
    await store.access.deleteProject(gone, NOW + 5);
    expect(await sweep(store, NOW, NOW + 5)).toEqual({});
    expect(await left(0, gone)).toEqual(all);
    const deleted = { ...(await sweep(store, NOW, NOW + 6)) };
    const none = { failures: 0, builds: 0, splits: 0, queues: 0, ciRuns: 0, spared: 0, days: 0, paths: 0 };
    expect([await left(0, gone), await left(1, kept)]).toEqual([none, all]);
    expect(deleted).toMatchObject({ split: 2, queue: 2, ci_run: 4, path: 3 });
    // The project itself goes by the next sweep, which finds nothing of it.
    expect((deleted.project ?? 0) + ((await sweep(store, NOW, NOW + 6)).project ?? 0)).toBe(1);
    const again = await newProject(store, 'web');
    expect(await left(0, again)).toMatchObject({ builds: 0, ciRuns: 0, days: 0, paths: 0 });
    expect(await secondsOf(store, again, ['spec/0_spec.rb'])).toEqual([null]);
  });

  it('accepts writes and reports its load', async () => {
    const store = await open();
    store.maintenance.assertWritable();
    await store.maintenance.probe(NOW);
    await store.maintenance.publish('timings');
    await store.maintenance.publish('queues');
    store.maintenance.refresh();
    const { bytes, diskFreeBytes, journalRecords, records } = await store.maintenance.load();
    for (const size of [bytes, diskFreeBytes ?? 0, journalRecords, ...Object.values(records)]) expect(size).toBeGreaterThanOrEqual(0);
  });
});
