import { describe, expect, it } from 'vitest';
import { type SplitKey, splitKey } from '../../../../src/server/engine/keys.js';
import { decodeBasis } from '../../../../src/server/planning/estimating/basis.js';
import { plannedPaths } from '../../../harness/planned-paths.js';
import { BUILD, estimates, FORECAST, HOUR, LIST, NOW, newSplit, planned, record, sweep } from './fixtures.js';
import { stores } from './stores.js';

const OTHER = { digest: 'digest of another list', test_files: 2 };

describe.each(stores)('splits in a store in $name', ({ opened: openStore }) => {
  async function opened() {
    const { store, project } = await openStore();
    const { plans, splits } = store;
    const key = (ci_run: string, isFixed = false, build = BUILD) => splitKey(project, build, ci_run, isFixed);
    const create = (key: SplitKey, list = LIST, at = NOW) => splits.create(key, newSplit(key, list), at);
    return { store, project, plans, splits, key, create };
  }

  it('are found once they are created, each under its key', async () => {
    const { store, project, plans, splits, key, create } = await opened();
    const own = key('7');
    expect(await splits.find(own)).toBeNull();
    await record(store, project, {});
    await record(store, project, {});
    const split = await create(own);
    expect(split).toMatchObject({ id: split.id, node_total: 4, created_at: NOW, runs_before: 2, list: LIST, used_at: NOW });
    expect(await splits.find(own)).toEqual(split);
    const otherBuilds = [{ commit_hash: 'abd' }, { branch: 'next' }, { node_total: 5 }];
    const others = otherBuilds.map(part => key('7', false, { ...BUILD, ...part }));
    for (const other of [...others, key('8'), key('7', true), splitKey(project + 1, BUILD, '7', false)])
      expect(await splits.find(other)).toBeNull();
    expect(await plans.part(split.id, 'forecast')).toEqual(FORECAST);
    expect([...decodeBasis((await plans.part(split.id, 'basis'))!, 4).basis]).toEqual([...estimates(4).basis]);
    expect([await plans.part('unknown', 'basis'), await plans.part(split.id, 'weights')]).toEqual([null, null]);
  });

  it('that many nodes create concurrently are one, also for a node that looks for it meanwhile', async () => {
    const { splits, key, create } = await opened();
    const own = key('7', true);
    const lists = Array.from({ length: 16 }, (_, i) => ({ digest: `digest ${i}`, test_files: 4 }));
    const creating = lists.map(list => create(own, list));
    const found = await splits.find(own);
    const created = await Promise.all(creating);
    expect(created).toEqual(created.map(() => created[0]));
    expect(await splits.find(own)).toEqual(created[0]);
    if (found) expect(found).toEqual(created[0]);
    expect(await create(own, OTHER)).toEqual(created[0]);
  });

  it('have the files of each of thousands of nodes, and none for another node', async () => {
    const { plans, key, create } = await opened();
    const split = await create(key('7', false, { ...BUILD, node_total: 1001 }));
    for (const node of [0, 249, 250, 1000]) {
      expect(JSON.parse((await plans.files(split.id, node))!.toString())).toEqual(planned(1001, [node]));
    }
    expect(await plans.files(split.id, 1001)).toBeNull();
  });

  it('have nodes without files, and files in the order of the plan', async () => {
    const { plans, splits, key } = await opened();
    const own = key('7');
    const planned = { ...plannedPaths(['c', 'b"},{"p[1].rb', 'a']), seconds: Float64Array.of(3, NaN, 0.25) };
    const files = plans.encode(planned, Uint32Array.of(0, 2, 1));
    const split = await splits.create(own, { ...newSplit(own), files, nodeEnds: Uint32Array.of(2, 2, 3, 3) }, NOW);
    const texts = await Promise.all([0, 1, 2, 3].map(async node => (await plans.files(split.id, node))!.toString()));
    expect(texts.map(text => JSON.parse(text) as unknown)).toEqual([
      [
        { path: 'c', time_execution: 3 },
        { path: 'a', time_execution: 0.25 },
      ],
      [],
      [{ path: 'b"},{"p[1].rb', time_execution: null }],
      [],
    ]);
  });

  it('that are fixed note when each CI run first used them', async () => {
    const { store, project, splits, key, create } = await opened();
    const split = await create(key('7', true));
    for (const other of ['7', 'null', '']) expect(await splits.find(key(other))).toBeNull();
    await record(store, project, {});
    for (const after of [1, 2]) await splits.use(key('8', true), split, NOW + after);
    await splits.use(key('7', true), split, NOW + 3);
    expect(await splits.firstUse(split, '7')).toEqual({ at: NOW, runs_before: 0 });
    expect(await splits.firstUse(split, '8')).toEqual({ at: NOW + 1, runs_before: 1 });
    expect(await splits.firstUse(split, '9')).toBeNull();
  });

  it('that are not fixed note no first use', async () => {
    const { splits, key, create } = await opened();
    const split = await create(key('7'));
    await splits.use(key('7'), split, NOW + 1);
    expect(await splits.firstUse(split, '7')).toBeNull();
  });

  it('keep the first list that differed, even if a node with an older state renews them', async () => {
    const { splits, key, create } = await opened();
    const own = key('7');
    const split = await create(own);
    for (const difference of ['they differ', 'they differ more']) await splits.noteOtherList(own, split, difference, NOW);
    await splits.use(own, split, NOW + HOUR);
    expect(await splits.find(own)).toEqual({ ...split, other_list: 'they differ', used_at: NOW + HOUR });
    expect(split.other_list).toBeUndefined();
  });

  it('that are fixed keep the first list that differed for each CI run', async () => {
    const { splits, key, create } = await opened();
    const split = await create(key('7', true));
    for (const difference of ['they differ', 'they differ more']) {
      await splits.noteOtherList(key('7', true), split, difference, NOW + 1);
      await splits.noteOtherList(key('8', true), split, difference, NOW + 2);
    }
    expect(await splits.firstUse(split, '7')).toEqual({ at: NOW, runs_before: 0, other_list: 'they differ' });
    expect(await splits.firstUse(split, '8')).toEqual({ at: NOW + 2, runs_before: 0, other_list: 'they differ' });
    expect((await splits.find(key('9', true)))!.other_list).toBeUndefined();
  });

  it('that have expired have no files, and can be created again', async () => {
    const { store, plans, splits, key, create } = await opened();
    const own = key('7', true);
    const split = await create(own);
    await sweep(store, NOW + 1);
    expect([await splits.find(own), await plans.files(split.id, 0), await plans.part(split.id, 'forecast')]).toEqual([null, null, null]);
    expect(await splits.firstUse(split, '7')).toBeNull();
    const next = await create(own, OTHER, NOW + HOUR);
    expect(next).toMatchObject({ list: OTHER, created_at: NOW + HOUR });
    await splits.use(own, split, NOW + 2 * HOUR);
    await splits.noteOtherList(key('7', true), split, 'they differ', NOW + 2 * HOUR);
    expect(await splits.find(own)).toEqual(next);
    expect(next.id).not.toBe(split.id);
  });
});
