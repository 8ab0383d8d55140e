import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/protocol/limits.js';
import { CI_RUNS_PER_BUILD, SPARED_PER_CI_RUN } from '../../../../src/server/engine/ci-run.js';
import { queueKey, type SplitKey, shortDigest, splitKey } from '../../../../src/server/engine/keys.js';
import { CHANGING_CHECKOUT } from '../../../../src/server/engine/node-notes.js';
import type { Checkout, CiRun, NodeLinks, NodeNote } from '../../../../src/server/engine/ports/ci-runs.js';
import { EXPIRED_PER_STEP } from '../../../../src/server/engine/retention.js';
import { BUILD, buildsOf, DAY, HOUR, NOW, newQueue, newSplit, record, sparedCiRun, summaryOf, sweep, upTo } from './fixtures.js';
import { stores } from './stores.js';

const CHECKOUT: Checkout = { tree: 'a'.repeat(40), doubt: null, keys: ['c'.repeat(64)] };

/** What a node told. */
function noteOf(
  { id }: Pick<CiRun, 'id'>,
  node_index: number,
  links: Partial<NodeLinks> | null,
  checkout: Checkout | null = null,
  command: string | null = null,
): NodeNote {
  return { id, node_index, links: links && { job_url: null, commit_url: null, diff_url: null, ...links }, checkout, command };
}

describe.each(stores)('CI runs in a store in $name', ({ opened: openStore }) => {
  async function opened() {
    const { store, project } = await openStore();
    const createQueue = (ci_run: string, at = NOW, build = BUILD) => store.queues.create(queueKey(project, build, ci_run), newQueue(3), at);
    const createSplit = (key: SplitKey, at = NOW) => store.splits.create(key, newSplit(key), at);
    const list = async (before = NOW + 30 * DAY, limit = 100) =>
      (await store.ciRuns.list(project, before, limit)).map(({ ci_run }) => ci_run);
    return { store, project, createQueue, createSplit, list };
  }

  it('begin with a queue, and are found by their id, build, project and time only', async () => {
    const { store, project, createQueue } = await opened();
    await record(store, project, {});
    await createQueue('7');
    const { id } = (await store.queues.newest(project, BUILD))!;
    const begun = { project, kind: 'queue', plan: id, ci_run: '7', digest: shortDigest('7'), created_at: NOW, runs_before: 1 };
    const run = { id, ...BUILD, ...begun };
    expect(await store.ciRuns.get(project, id)).toEqual(run);
    expect(await store.ciRuns.list(project, NOW + 1, 10)).toEqual([run]);
    expect(await store.ciRuns.ofBuild(project, BUILD)).toEqual([run]);
    expect(await store.ciRuns.get(project + 1, id)).toBeNull();
    expect(await store.ciRuns.get(project, 'unknown')).toBeNull();
    expect(await store.ciRuns.list(project + 1, NOW + 1, 10)).toEqual([]);
    expect(await store.ciRuns.list(project, NOW, 10)).toEqual([]);
    expect(await store.ciRuns.ofBuild(project, { ...BUILD, branch: 'next' })).toEqual([]);
  });

  it('begin once, however many nodes create or use the same plan', async () => {
    const { store, project, createQueue, createSplit, list } = await opened();
    const fixed = splitKey(project, BUILD, 'fixed', true);
    await Promise.all(
      upTo(5).flatMap(() => [createQueue('queue'), createSplit(splitKey(project, BUILD, 'split', false)), createSplit(fixed)]),
    );
    const split = (await store.splits.find(fixed))!;
    for (const at of [NOW, NOW + HOUR, NOW + 2 * HOUR]) await store.splits.use(fixed, split, at);
    expect((await list()).sort()).toEqual(['fixed', 'queue', 'split']);
    expect((await store.ciRuns.get(project, split.id))!).toMatchObject({ kind: 'split', plan: split.id, ci_run: 'fixed' });
  });

  it('begin with a copy of a queue and with each further use of a fixed split, which have other ids', async () => {
    const { store, project, createQueue, createSplit } = await opened();
    await createQueue('1', NOW);
    await store.queues.repeat(queueKey(project, BUILD, '2'), NOW + 1);
    await store.queues.repeat(queueKey(project, BUILD, '2'), NOW + 2);
    const split = await createSplit(splitKey(project, BUILD, '3', true), NOW + 3);
    await record(store, project, {});
    const fourth = splitKey(project, BUILD, '4', true);
    await store.splits.use(fourth, split, NOW + 4);
    const fifth = splitKey(project, BUILD, '5', true);
    await store.splits.noteOtherList(fifth, split, 'another list', NOW + 5);
    await store.splits.use(fifth, split, NOW + 6);
    const runs = await store.ciRuns.ofBuild(project, BUILD);
    const plans = (await Promise.all(['2', '1'].map(ci_run => store.queues.find(queueKey(project, BUILD, ci_run))))).map(
      queue => queue!.id,
    );
    expect(runs.map(({ ci_run, plan, created_at, runs_before }) => [ci_run, plan, created_at, runs_before])).toEqual([
      ['5', split.id, NOW + 5, 1],
      ['4', split.id, NOW + 4, 1],
      ['3', split.id, NOW + 3, 0],
      ['2', plans[0], NOW + 1, 0],
      ['1', plans[1], NOW, 0],
    ]);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(5);
    expect(await store.ciRuns.list(project, NOW + 4, 2)).toEqual([runs[2], runs[3]]);
    const other = { ...BUILD, branch: 'next' };
    expect(await store.ciRuns.newest(project, [other, BUILD, other])).toEqual([null, runs[0], null]);
    expect(await store.ciRuns.newest(project + 1, [BUILD])).toEqual([null]);
  });

  it('have their ids cut to what is shown, with the digest of the whole', async () => {
    const { store, project, createQueue } = await opened();
    const ids = ['a', 'b'].map(end => 'x'.repeat(limits.ciRunCharacters) + end);
    for (const id of ids) await createQueue(id);
    const runs = await store.ciRuns.ofBuild(project, BUILD);
    expect(runs.map(({ ci_run }) => ci_run)).toEqual(ids.map(() => 'x'.repeat(limits.ciRunCharacters)));
    expect(runs.map(({ digest }) => digest).sort()).toEqual(ids.map(shortDigest).sort());
  });

  it('of a build are listed up to a limit, newest first', async () => {
    const { store, project, createQueue } = await opened();
    await Promise.all(upTo(CI_RUNS_PER_BUILD + 3).map(i => createQueue(`${i}`, NOW + i)));
    const runs = await store.ciRuns.ofBuild(project, BUILD);
    expect(runs.map(({ ci_run }) => ci_run)).toEqual(upTo(CI_RUNS_PER_BUILD).map(i => `${CI_RUNS_PER_BUILD + 2 - i}`));
  });

  it('have the addresses that their nodes sent: the last of each job, and the first templates', async () => {
    const { store, project, createQueue, createSplit } = await opened();
    await createQueue('1');
    await createQueue('2', NOW + 1);
    await createSplit(splitKey(project, BUILD, '3', false), NOW + 2);
    const [third, second, first] = await store.ciRuns.ofBuild(project, BUILD);
    const links = { commit_url: 'https://git/{commit}', diff_url: null };
    await store.ciRuns.noteNodes([]);
    await store.ciRuns.noteNodes([
      noteOf(first!, 0, { job_url: 'https://ci/0' }),
      noteOf(first!, 1, { ...links, job_url: 'https://ci/1' }),
      noteOf(first!, 2, links),
      noteOf(third!, 3, { diff_url: 'https://git/{before}/{commit}' }),
      noteOf({ id: 'unknown' }, 0, { job_url: 'https://ci/unknown' }),
    ]);
    const again = { job_url: 'https://ci/again', commit_url: 'https://other/{commit}' };
    await Promise.all([1, 1].map(node_index => store.ciRuns.noteNodes([noteOf(first!, node_index, again)])));
    expect(await store.ciRuns.nodes(first!.id)).toEqual([
      { node_index: 0, job_url: 'https://ci/0', checkout: null, command: null },
      { node_index: 1, job_url: 'https://ci/again', checkout: null, command: null },
      { node_index: 2, job_url: null, checkout: null, command: null },
    ]);
    expect(await store.ciRuns.nodes(third!.id)).toEqual([{ node_index: 3, job_url: null, checkout: null, command: null }]);
    for (const id of [second!.id, 'unknown']) expect(await store.ciRuns.nodes(id)).toEqual([]);
    expect(await store.ciRuns.ofBuild(project, BUILD)).toEqual([
      { ...third, links: { commit_url: null, diff_url: 'https://git/{before}/{commit}' } },
      second,
      { ...first, links },
    ]);
  });

  it('expire with the addresses of all their jobs', async () => {
    const { store, project, createQueue } = await opened();
    await createQueue('1', NOW);
    await createQueue('2', NOW + HOUR);
    const runs = await store.ciRuns.ofBuild(project, BUILD);
    const job = (run: Pick<CiRun, 'id'>, node_index: number) => noteOf(run, node_index, { job_url: 'https://ci' }, CHECKOUT);
    for (const run of runs) await store.ciRuns.noteNodes(upTo(2 * EXPIRED_PER_STEP).map(i => job(run, i)));
    expect(await sweep(store, NOW + 1)).toEqual({ queue: 1, ci_run: 1 });
    await store.ciRuns.noteNodes([job(runs[1]!, 0)]);
    expect(await store.ciRuns.nodes(runs[1]!.id)).toEqual([]);
    expect(await store.ciRuns.nodes(runs[0]!.id)).toHaveLength(2 * EXPIRED_PER_STEP);
    expect((await store.ciRuns.ofTree(project, CHECKOUT.tree!, 9)).map(({ id }) => id)).toEqual([runs[0]!.id]);
  });

  it('are found by the tree that a node told first, newest first', async () => {
    const { store, project, createQueue } = await opened();
    for (let i = 0; i < 4; i++) await createQueue(String(i), NOW + i);
    const [newest, ...runs] = await store.ciRuns.ofBuild(project, BUILD);
    const other = { ...CHECKOUT, tree: 'b'.repeat(64) };
    await store.ciRuns.noteNodes([
      ...runs.map(run => noteOf(run, 0, null, CHECKOUT)),
      noteOf(newest!, 0, null, other),
      noteOf(newest!, 1, null, { tree: null, doubt: 'no commit', keys: [] }),
    ]);
    await store.ciRuns.noteNodes([noteOf(runs[0]!, 1, null, other)]);
    const found = async (tree: string, limit = 9) => (await store.ciRuns.ofTree(project, tree, limit)).map(({ id }) => id);
    expect(await found(CHECKOUT.tree!)).toEqual(runs.map(({ id }) => id));
    expect(await found(CHECKOUT.tree!, 2)).toEqual(runs.slice(0, 2).map(({ id }) => id));
    expect(await found(other.tree)).toEqual([newest!.id]);
    expect(await store.ciRuns.ofTree(project + 1, other.tree, 9)).toEqual([]);
    expect((await store.ciRuns.get(project, newest!.id))!.tree).toBe(other.tree);
  });

  it('keep the checkout of each node, and that it changed with a later process', async () => {
    const { store, project, createQueue } = await opened();
    await createQueue('1');
    const [run] = await store.ciRuns.ofBuild(project, BUILD);
    const note = (node_index: number, checkout: Checkout | null) =>
      store.ciRuns.noteNodes([noteOf(run!, node_index, { job_url: 'https://ci' }, checkout)]);
    const changed = { ...CHECKOUT, doubt: 'größe\0.js is changed' };
    for (const checkout of [CHECKOUT, CHECKOUT]) await note(0, checkout);
    for (const checkout of [CHECKOUT, changed]) await note(1, checkout);
    for (const checkout of [null, CHECKOUT]) await note(2, checkout);
    for (const checkout of [CHECKOUT, null, CHECKOUT]) await note(3, checkout);
    await note(4, changed);
    expect((await store.ciRuns.nodes(run!.id)).map(({ checkout }) => checkout)).toEqual([
      CHECKOUT,
      CHANGING_CHECKOUT,
      CHANGING_CHECKOUT,
      CHANGING_CHECKOUT,
      changed,
    ]);
  });

  it('keep the command of each node, unless its processes told different ones', async () => {
    const { store, project, createQueue } = await opened();
    await createQueue('1');
    const [run] = await store.ciRuns.ofBuild(project, BUILD);
    const told = [['a', 'a'], ['a', 'b', 'a'], [null, 'a'], ['a', null, 'a'], [null]];
    for (const [node, commands] of told.entries())
      for (const command of commands) await store.ciRuns.noteNodes([noteOf(run!, node, null, CHECKOUT, command)]);
    const nodes = await store.ciRuns.nodes(run!.id);
    expect(nodes.map(({ command }) => command)).toEqual(['a', null, null, null, null]);
    expect(nodes.map(({ checkout }) => checkout)).toEqual(nodes.map(() => CHECKOUT));
  });

  describe('that others have proved', () => {
    async function proving() {
      const { store, project, createQueue, ...rest } = await opened();
      for (const [i, ci_run] of ['1', '2', '3'].entries()) await createQueue(ci_run, NOW + i);
      const runs = (await store.ciRuns.ofBuild(project, BUILD)).reverse();
      await store.ciRuns.noteNodes(runs.map((run, i) => noteOf(run, 0, null, { ...CHECKOUT, tree: (i < 2 ? 'a' : 'b').repeat(40) })));
      const [first, second, other] = (await store.ciRuns.ofBuild(project, BUILD)).reverse() as [CiRun, CiRun, CiRun];
      const days = async (branch: string | null, of = project) =>
        (await store.summaries.days(of, branch, 0, 1e8)).map(({ day, sums }) => [day - NOW / DAY, sums.proved_runs, sums.proved_seconds]);
      return { store, project, createQueue, first, second, other, days, ...rest };
    }

    it('are noted once with one of their tree, and count on their day, for their branch and for all', async () => {
      const { store, project, first, second, other, days } = await proving();
      const spared = sparedCiRun({ branch: 'größe\0' });
      expect(await store.ciRuns.noteSpared(first, spared)).toBe(true);
      const again = { ...spared, asked_at: NOW + 2 * DAY };
      for (const by of [first, second]) expect(await store.ciRuns.noteSpared(by, again)).toBe(false);
      const others = [{ commit_hash: 'other' }, { branch: 'next', seconds: 0.25 }, { ci_run: 'other', asked_at: NOW + 2 * DAY }];
      const noted = others.map(more => sparedCiRun(more));
      for (const run of noted) expect(await store.ciRuns.noteSpared(second, run)).toBe(true);
      expect(await store.ciRuns.noteSpared(other, spared)).toBe(true);
      expect(await store.ciRuns.spared(first.id)).toEqual([spared]);
      expect(await store.ciRuns.spared(second.id)).toEqual(expect.arrayContaining(noted));
      expect(await store.ciRuns.spared('unknown')).toEqual([]);
      expect(await days(null)).toEqual([
        [1, 4, 270.25],
        [2, 1, 90],
      ]);
      expect([await days('größe\0'), await days('next')]).toEqual([[[1, 2, 180]], [[1, 1, 0.25]]]);
      expect(await days(null, project + 1)).toEqual([]);
      expect(await store.ciRuns.noteSpared({ ...first, id: 'gone' }, sparedCiRun({ ci_run: 'late' }))).toBe(false);
    });

    it('are counted exactly when many ask at once, and builds end beside them', async () => {
      const { store, project, first, second, days } = await proving();
      await record(store, project, { 'a.rb': 1 });
      const [build] = await buildsOf(store, project);
      const asking = upTo(8).map(i =>
        store.ciRuns.noteSpared(i % 2 ? first : second, sparedCiRun({ ci_run: String(i >> 1), asked_at: NOW })),
      );
      await Promise.all([...asking, store.summaries.put(build!, summaryOf())]);
      expect((await Promise.all(asking)).filter(Boolean)).toHaveLength(4);
      const both = [await store.ciRuns.spared(first.id), await store.ciRuns.spared(second.id)].flat();
      expect(both.map(({ ci_run }) => ci_run).sort()).toEqual(['0', '1', '2', '3']);
      expect(await days('main')).toEqual([[0, 4, 360]]);
      expect((await store.summaries.days(project, null, 0, 1e8))[0]!.sums).toMatchObject({ builds: 1, wall: 100 });
    });

    it('are noted once also if nobody told the tree of the one that proves them', async () => {
      const { store, project, createQueue, first } = await proving();
      await createQueue('4');
      const bare = (await store.ciRuns.ofBuild(project, BUILD)).find(({ ci_run }) => ci_run === '4')!;
      const noted = [];
      for (const by of [bare, bare, first]) noted.push(await store.ciRuns.noteSpared(by, sparedCiRun()));
      expect(noted).toEqual([true, false, true]);
    });

    it('keep a day whose builds go to another one, until it expires', async () => {
      const { store, project, first, days } = await proving();
      await record(store, project, { 'a.rb': 1 });
      const [build] = await buildsOf(store, project);
      await store.summaries.put(build!, summaryOf());
      await store.ciRuns.noteSpared(first, sparedCiRun({ asked_at: NOW }));
      await store.summaries.put(build!, summaryOf({ started_at: NOW + DAY }));
      const both = [
        [0, 1, 90],
        [1, 0, 0],
      ];
      expect([await days(null), await days('main')]).toEqual([both, both]);
      await sweep(store, NOW + DAY + 1);
      expect(await days(null)).toEqual([[1, 0, 0]]);
    });

    it('are bounded, and expire with the CI run that proves them', async () => {
      const { store, first, second, days } = await proving();
      const note = (i: number, by = first) => store.ciRuns.noteSpared(by, sparedCiRun({ ci_run: String(i) }));
      for (const i of upTo(SPARED_PER_CI_RUN)) await note(i);
      expect(await note(SPARED_PER_CI_RUN)).toBe(false);
      expect(await note(SPARED_PER_CI_RUN, second)).toBe(true);
      expect(await days('main')).toEqual([[1, SPARED_PER_CI_RUN + 1, 90 * (SPARED_PER_CI_RUN + 1)]]);
      expect(await sweep(store, NOW + 1)).toEqual({ queue: 1, ci_run: 1 });
      expect([await store.ciRuns.spared(first.id), await store.ciRuns.spared(second.id)]).toMatchObject([[], [{}]]);
      expect(await note(0)).toBe(false);
    });
  });

  it('expire by the time when they began, also while their queue is in use', async () => {
    const { store, project, createQueue, list } = await opened();
    await createQueue('1', NOW);
    await createQueue('2', NOW + HOUR);
    expect(await sweep(store, NOW)).toEqual({});
    expect(await sweep(store, NOW + 1)).toEqual({ queue: 1, ci_run: 1 });
    expect(await list()).toEqual(['2']);
    expect((await store.ciRuns.ofBuild(project, BUILD)).map(({ ci_run }) => ci_run)).toEqual(['2']);
    await sweep(store, NOW + DAY);
    expect(await store.ciRuns.ofBuild(project, BUILD)).toEqual([]);
  });
});
