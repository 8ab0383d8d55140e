import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countOn, emptyDay, TIMES_PER_DAY } from '../../../../src/server/engine/days/days.js';
import { type BuildKey, queueKey } from '../../../../src/server/engine/keys.js';
import type { Build } from '../../../../src/server/engine/ports/builds.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import type { DaySummary, Period, Summary } from '../../../../src/server/engine/ports/summaries.js';
import { medianOf } from '../../../../src/server/insight/trends/build-trend.js';
import { BUILD, buildsOf, DAY, files, NOW, newProject, newQueue, record, summaryOf, sweep } from './fixtures.js';
import { stores } from './stores.js';

const seed = 20_261_122;
const TODAY = NOW / DAY;

/** Records builds of the commits c0, c1, ... Returns them in this order. */
async function recordBuilds(store: Store, project: number, count: number, branch = 'main'): Promise<Build[]> {
  for (let i = 0; i < count; i++) await record(store, project, files(1), { commit_hash: `c${i}`, branch });
  return (await buildsOf(store, project)).filter(build => build.branch === branch).reverse();
}

const sumOf = (day: number, summaries: readonly Summary[]): DaySummary =>
  summaries.reduce((sum, summary) => countOn(sum, summary, 1), emptyDay(day));

describe.each(stores)('summaries in a store in $name', ({ open, opened }) => {
  it('are returned as they were put, and none for a build without', async () => {
    const store = await open();
    const [first, second, third] = await recordBuilds(store, await newProject(store), 3);
    const line = { kind: 'recordings' as const, longest: null, last: null, failed: 3, missing: 1, decided_by: { path: 'a_spec.rb' } };
    const bare = summaryOf({ state: 'running', slowness: [], line });
    await store.summaries.put(first!, summaryOf());
    await store.summaries.put(second!, bare);
    expect(await store.summaries.get(first!.number)).toEqual(summaryOf());
    expect(await store.summaries.get(second!.number)).toEqual(bare);
    expect(await store.summaries.get(third!.number)).toBeNull();
    const numbers = [third, second, first].map(build => build!.number);
    expect(await store.summaries.ofBuilds([...numbers, 99])).toEqual([null, bare, summaryOf(), null]);
    expect(await store.summaries.ofBuilds([])).toEqual([]);
  });

  it('add up by day, for each branch and for all branches together', async () => {
    const store = await open();
    const [project, other] = [await newProject(store), await newProject(store, 'other')];
    const main = await recordBuilds(store, project, 3);
    const next = await recordBuilds(store, project, 1, 'next');
    const elsewhere = await recordBuilds(store, other, 1);
    const today = [summaryOf(), summaryOf({ line: { wall: 50, failed: 2 } }), summaryOf({ line: { missing: 3 } })];
    const before = summaryOf({ started_at: NOW - 1 });
    await store.summaries.put(main[0]!, today[0]!);
    await store.summaries.put(main[1]!, today[1]!);
    await store.summaries.put(main[2]!, before);
    await store.summaries.put(next[0]!, today[2]!);
    await store.summaries.put(elsewhere[0]!, summaryOf());
    const days = (branch: string | null, from = 0, to = 1e8) => store.summaries.days(project, branch, from, to);
    expect(await days(null)).toEqual([sumOf(TODAY - 1, [before]), sumOf(TODAY, today)]);
    expect(await days('main')).toEqual([sumOf(TODAY - 1, [before]), sumOf(TODAY, today.slice(0, 2))]);
    expect(await days('next')).toEqual([sumOf(TODAY, today.slice(2))]);
    expect(await days('main', TODAY - 1, TODAY - 1)).toEqual([sumOf(TODAY - 1, [before])]);
    expect(await days('main', TODAY, TODAY)).toHaveLength(1);
    expect([await days('none'), await days('main', TODAY + 1), await days('main', 0, TODAY - 2)]).toEqual([[], [], []]);
    expect((await days(null))[1]).toMatchObject({ sums: { builds: 3, with_failures: 1, incomplete: 1, wall: 150 } });
  });

  it('replace the one before on its day, however often and in whichever order they are put', async () => {
    const put = fc.record({
      build: fc.integer({ min: 0, max: 2 }),
      summary: fc
        .record({
          started_at: fc.constantFrom(NOW, NOW + 1, NOW + DAY, -1e300, 1e300, NaN),
          isRunning: fc.boolean(),
          line: fc.record({
            wall: fc.oneof(
              fc.integer({ min: 0, max: 1e7 }).map(milliseconds => milliseconds / 1000),
              fc.constantFrom(0.0005, NaN, 1e300),
            ),
            failed: fc.constantFrom(null, 0, 2),
            missing: fc.constantFrom(0, 1),
          }),
        })
        .map(({ isRunning, ...summary }) => summaryOf({ ...summary, ...(isRunning && { state: 'running' }) })),
    });
    const store = await open();
    let projects = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(put, { maxLength: 12 }), async puts => {
        const project = await newProject(store, `project ${++projects}`);
        const builds = await recordBuilds(store, project, 3);
        const last = new Map<number, Summary>();
        for (const { build, summary } of puts) {
          await store.summaries.put(builds[build]!, summary);
          last.set(build, summary);
        }
        const other = await newProject(store, `project ${++projects}`);
        const others = await recordBuilds(store, other, 3);
        await Promise.all([...last].map(([build, summary]) => store.summaries.put(others[build]!, summary)));
        for (const branch of ['main', null])
          expect(await store.summaries.days(project, branch, 0, 1e8)).toEqual(await store.summaries.days(other, branch, 0, 1e8));
      }),
      { seed, numRuns: 15 },
    );
  });

  it('are gone with their build, and a build that is gone gets none', async () => {
    const { store, project } = await opened();
    const [build] = await recordBuilds(store, project, 1);
    await store.summaries.put(build!, summaryOf());
    expect(await sweep(store, NOW + 1)).toMatchObject({ subset: 1 });
    expect(await store.summaries.get(build!.number)).toBeNull();
    await store.summaries.put(build!, summaryOf());
    expect(await store.summaries.get(build!.number)).toBeNull();
    expect(await store.summaries.days(project, null, TODAY, TODAY)).toHaveLength(1);
  });

  it('leave a day until it is older than the retention', async () => {
    const { store, project } = await opened();
    const [first, second, third] = await recordBuilds(store, project, 3);
    await store.summaries.put(first!, summaryOf());
    await store.summaries.put(second!, summaryOf({ started_at: NOW + DAY }));
    // It is put twice, and its first day has no other build.
    await store.summaries.put(third!, summaryOf({ started_at: NOW + 2 * DAY }));
    await store.summaries.put(third!, summaryOf({ started_at: NOW + DAY }));
    const daysLeft = async () => (await store.summaries.days(project, 'main', 0, 1e8)).map(({ day, sums }) => [day, sums.builds]);
    expect(await sweep(store, NOW + DAY)).toMatchObject({ subset: 3 });
    expect(await daysLeft()).toEqual([
      [TODAY, 1],
      [TODAY + 1, 2],
    ]);
    // A day counts for its branch, and for all branches.
    expect(await sweep(store, NOW + DAY + 1)).toMatchObject({ day: 2 });
    expect(await daysLeft()).toEqual([[TODAY + 1, 2]]);
    expect(await sweep(store, NOW + 10 * DAY)).toMatchObject({ day: 2 });
    expect(await daysLeft()).toEqual([]);
  });

  describe('of CI runs of which nothing is recorded', () => {
    const missing = summaryOf({ recorded: 0, line: { missing: 3 } });

    async function started() {
      const { store, project } = await opened();
      const begin = async (ci_run: string, at = NOW, build: BuildKey = BUILD) => {
        await store.queues.create(queueKey(project, build, ci_run), newQueue(3), at);
        return (await store.ciRuns.ofBuild(project, build)).find(run => run.ci_run === ci_run)!;
      };
      const listed = async ({ from = -Infinity, before = Infinity }: Partial<Period> = {}, limit = 10) =>
        (await store.summaries.unrecorded(project, { from, before }, limit)).map(({ ciRun }) => ciRun.ci_run);
      const counted = async (branch: string | null = null) =>
        (await store.summaries.days(project, branch, 0, 1e8)).map(({ day, sums: { builds, incomplete } }) => [day, builds, incomplete]);
      return { store, project, begin, listed, counted };
    }

    it('are listed by the time when these began, and count on their day', async () => {
      const { store, begin, listed, counted } = await started();
      const [first, second] = [await begin('1'), await begin('2', NOW + 5, { ...BUILD, branch: 'next' })];
      await begin('3', NOW + 6);
      for (const ciRun of [first, second]) await store.summaries.putUnrecorded(ciRun, missing);
      expect([await listed(), await listed({ before: NOW + 5 }), await listed({ before: NOW }), await listed({}, 1)]).toEqual([
        ['2', '1'],
        ['1'],
        [],
        ['2'],
      ]);
      expect([await listed({ from: NOW }), await listed({ from: NOW + 1 }), await listed({ from: NOW + 6 })]).toEqual([
        ['2', '1'],
        ['2'],
        [],
      ]);
      const always = { from: -Infinity, before: Infinity };
      expect(await store.summaries.unrecorded(second.project, always, 1)).toEqual([{ ciRun: second, summary: missing }]);
      expect(await store.summaries.unrecorded(second.project + 1, always, 1)).toEqual([]);
      expect([await counted(), await counted('next')]).toEqual([[[TODAY, 2, 2]], [[TODAY, 1, 1]]]);
    });

    it('are replaced by that of the next CI run of the build, and by that of the build', async () => {
      const { store, project, begin, listed, counted } = await started();
      const [first, second] = [await begin('1'), await begin('2', NOW + DAY)];
      await store.summaries.putUnrecorded(first, missing);
      await store.summaries.putUnrecorded(second, { ...missing, started_at: NOW + DAY });
      expect([await listed(), await counted()]).toEqual([['2'], [[TODAY + 1, 1, 1]]]);
      expect([await store.summaries.ofUnrecorded(first), await store.summaries.ofUnrecorded(second)]).toEqual([null, expect.anything()]);
      await record(store, project, files(1));
      const [build] = await buildsOf(store, project);
      await store.summaries.put(build!, summaryOf({ started_at: NOW + DAY }));
      expect([await listed(), await counted()]).toEqual([[], [[TODAY + 1, 1, 0]]]);
      await store.summaries.putUnrecorded(second, missing);
      expect([await listed(), await counted()]).toEqual([[], [[TODAY + 1, 1, 0]]]);
    });

    it('go with their CI run, and a CI run that is gone gets none', async () => {
      const { store, begin, listed, counted } = await started();
      const ciRun = await begin('1');
      await store.summaries.putUnrecorded(ciRun, missing);
      expect(await sweep(store, NOW + 1)).toMatchObject({ ci_run: 1 });
      expect([await listed(), await counted()]).toEqual([[], [[TODAY, 1, 1]]]);
      await store.summaries.putUnrecorded(ciRun, missing);
      expect([await listed(), await counted()]).toEqual([[], [[TODAY, 1, 1]]]);
    });
  });
});

describe('the wall times of a day', () => {
  const dayOf = (...walls: number[]) =>
    sumOf(
      0,
      walls.map(wall => summaryOf({ line: { wall } })),
    );

  it('have the median that they have', () => {
    expect([dayOf(), dayOf(514.3), dayOf(509, 814.5), dayOf(3, 1, 2.001)].map(({ walls }) => medianOf(walls))).toEqual([
      null,
      514.3,
      661.75,
      2.001,
    ]);
  });

  it('are those of complete builds that have ended', () => {
    const others = [...(['running', 'partial'] as const).map(state => summaryOf({ state })), summaryOf({ line: { missing: 1 } })];
    const day = others.reduce((sum, summary) => countOn(sum, summary, 1), dayOf(50));
    expect(day).toMatchObject({ sums: { builds: 3, incomplete: 1, partial: 1, wall: 50, saved: 5 }, walls: [50_000], tests: [160_000] });
    expect(others.reduce((sum, summary) => countOn(sum, summary, -1), day)).toEqual(dayOf(50));
  });

  it('are kept for a bounded number of builds', () => {
    const full = { ...emptyDay(0), walls: Array<number>(TIMES_PER_DAY).fill(1000), tests: [] };
    expect(countOn(full, summaryOf(), 1).walls).toEqual(full.walls);
    expect(countOn(full, summaryOf(), -1).walls).toEqual(full.walls);
  });
});
