import { beforeAll, describe, expect, it } from 'vitest';
import { noSettings } from '../../src/protocol/project-settings.js';
import { Clock } from '../harness/clock.js';
import { type ProjectClient, SharedServer } from '../harness/server.js';
import { type Plan, playCiRun } from './ci-runs.js';
import { middle } from './recompute.js';

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });

const PATHS = Array.from({ length: 40 }, (_, i) => `spec/file_${String(i).padStart(2, '0')}_spec.rb`);
/** The files of a build: each build takes a bit more or less, and the first file is longer than the others. */
const filesOf = (build: number) =>
  Object.fromEntries(PATHS.map((path, i) => [path, (i === 0 ? 60 : 5 + ((i * 7) % 11)) * (1 + ((build * 5) % 7) / 20)]));

describe('the numbers of nodes of the last builds', () => {
  let client: ProjectClient;
  const get = async (path: string) => (await client.get(path)).json;
  const counts = (query = '') => get(`/v1/trends/node_counts${query}`);
  beforeAll(async () => {
    client = await shared.project();
    for (let build = 0; build < 13; build++) {
      const nodes: Plan['nodes'] = [{}, { start: 3 }, build === 11 ? { dies: 1 } : {}];
      const mode = build === 12 ? 'split' : 'queue';
      await playCiRun(client, clock, { mode, commit_hash: `c${build}`, files: filesOf(build), nodes });
      clock.advance({ seconds: 3600 });
      await shared.summarize();
    }
  });

  it('are medians and ninetieth percentiles of what What-if plays of each build', async () => {
    const answer = await counts('?target=140');
    // The first builds are too old, and in one a node died.
    expect(answer.builds.map((build: any) => build.commit_hash)).toEqual([12, 10, 9, 8, 7, 6, 5, 4, 3, 2].map(build => `c${build}`));
    const numbers = answer.counts.map(({ nodes }: any) => nodes);
    const played = await Promise.all(
      answer.builds.map(async ({ build_id }: any) => (await get(`/v1/builds/${build_id}/what_if?nodes=${numbers}`)).variants),
    );
    const recomputed = numbers.map((nodes: number, i: number) => {
      const variants = played.map(own => own[i]);
      const walls = variants.map(({ wall }) => wall).sort((a, b) => a - b);
      const work = variants.reduce((sum, { job_seconds }) => sum + job_seconds, 0) / variants.length;
      return {
        nodes,
        median_wall: expect.closeTo(middle(walls), 2.5),
        p90_wall: walls[8],
        job_seconds: expect.closeTo(work, 2.5),
        price: null,
        within: walls.filter(wall => wall <= 140).length,
      };
    });
    expect(answer.counts).toEqual(recomputed);
    const least = recomputed.find(({ within }: any) => within >= 9);
    expect(answer.recommended).toBe(least.nodes);
    // One node fewer is not enough.
    const fewer = await Promise.all(
      answer.builds.map(
        async ({ build_id }: any) => (await get(`/v1/builds/${build_id}/what_if?nodes=${least.nodes - 1}`)).variants[0].wall,
      ),
    );
    expect(fewer.filter(wall => wall <= 140).length).toBeLessThan(9);
    const bound = numbers.findIndex((_: number, i: number) => played.filter(own => own[i].bound_by_file).length > 5);
    expect(answer.bound).toEqual({ nodes: numbers[bound], path: PATHS[0] });
    const today = recomputed.find(({ nodes }: any) => nodes === 3);
    expect(answer.sentence).toBe(
      `${least.nodes} nodes: ${least.within} of 10 builds would end within 2 m 20 s; the usual 3 nodes: ${today.within} of 10.`,
    );
    const more = Math.round(100 * (least.job_seconds.sample / today.job_seconds.sample - 1));
    expect(answer.remarks).toEqual([`${least.nodes} nodes take ${more} % more node-minutes than 3.`]);
    expect(answer).toMatchObject({ usual_nodes: 3, left_out: 1 });
  });

  it('have the measured wall times of the builds', async () => {
    const { builds } = await counts();
    for (const { build_id, wall, node_count } of builds)
      expect({ wall, node_count }).toEqual({ wall: (await get(`/v1/builds/${build_id}/minutes`)).wall, node_count: 3 });
  });

  it('cost what the settings of the project say, whose target counts', async () => {
    const before = await counts();
    expect(before.target).toBeNull();
    expect(before.counts.some(({ nodes }: any) => nodes === before.recommended)).toBe(true);
    const settings = { ...noSettings, price: { amount: 0.06, currency: 'EUR' }, setup: 10, target: 140 };
    await shared.store.access.replaceSettings(client.id, noSettings, settings);
    const answer = await counts();
    const { nodes, job_seconds: paid, price } = answer.counts[4];
    const played = await Promise.all(
      answer.builds.map(async ({ build_id }: any) => (await get(`/v1/builds/${build_id}/what_if?nodes=${nodes}`)).variants[0]),
    );
    const meanOf = (value: (variant: any) => number) => played.reduce((sum, variant) => sum + value(variant), 0) / played.length;
    expect(paid).toBeCloseTo(
      meanOf(variant => variant.job_seconds),
      2,
    );
    expect(price).toEqual({ amount: expect.closeTo((0.06 / 60) * paid, 5), currency: 'EUR' });
    expect(price.amount).toBeCloseTo(
      meanOf(variant => variant.price.amount),
      5,
    );
    const [more] = answer.remarks;
    // The builds before the setting counted without a set-up, the same jobs now count with it.
    const { job_seconds } = (await get('/v1/trends/builds?by=range')).days[0];
    const spent = (0.06 / 60) * job_seconds;
    const priceOf = (count: number) => answer.counts.find((each: any) => each.nodes === count).price.amount;
    const other = (spent * priceOf(answer.recommended)) / priceOf(3);
    expect(more).toBe(`The last day would have cost about €${other.toFixed(2)} instead of €${spent.toFixed(2)}, on all branches.`);
    expect(answer).toMatchObject({ target: 140, recommended: (await counts('?target=140')).recommended });
  });

  it('are those of What-if in another mode, too, where no real build has its time', async () => {
    const answer = await counts('?target=140&mode=split');
    const numbers = answer.counts.map(({ nodes }: any) => nodes);
    const played = await Promise.all(
      answer.builds.map(async ({ build_id }: any) => (await get(`/v1/builds/${build_id}/what_if?mode=split&nodes=${numbers}`)).variants),
    );
    expect(answer.counts.map(({ median_wall }: any) => median_wall)).toEqual(
      numbers.map((_: number, i: number) => expect.closeTo(middle(played.map(own => own[i].wall)), 2.5)),
    );
    expect(answer.sentence).toContain('of 10 builds as a split would end within');
    // The newest build was a split, and those before it were queues.
    expect(played.map(own => own.some(({ measured }: any) => measured !== null))).toEqual([true, ...Array(9).fill(false)]);
    expect(await counts('?mode=other')).toEqual({ errors: [{ mode: [expect.any(String)] }] });
  });

  it.each([250, 3000])('are the usual one if it is enough in %d s, unless fewer save much', async target => {
    const { counts: all, recommended } = await counts(`?target=${target}`);
    const usual = all.find(({ nodes }: any) => nodes === 3);
    const least = all.find(({ within }: any) => within >= 9);
    expect([usual.within >= 9, least.nodes <= 3]).toEqual([true, true]);
    expect(recommended).toBe(least.job_seconds > 0.98 * usual.job_seconds ? 3 : least.nodes);
  });

  it('say that no number is enough', async () => {
    const { sentence, remarks, recommended, bound } = await counts('?target=50');
    expect(sentence).toMatch(
      new RegExp(
        `^No number up to \\d+ nodes is enough\\. ${recommended} nodes: \\d of 10 builds would end within 50 s; the usual 3 nodes: 0 of 10\\.$`,
      ),
    );
    expect(remarks[0]).toBe(`On ${recommended} nodes, ${bound.path} alone decides when a build ends.`);
  });

  it('are compared with the usual number, not with that of the newest build, and leave out a build with a few files', async () => {
    const before = await counts('?target=140');
    const [path] = PATHS;
    await playCiRun(client, clock, { mode: 'queue', commit_hash: 'few', files: { [path!]: 60 }, nodes: [{}, {}, {}, {}, {}] });
    clock.advance({ seconds: 3600 });
    await shared.summarize();
    const after = await counts('?target=140');
    expect(after).toEqual({ ...before, left_out: before.left_out + 1, remarks: after.remarks });
  });

  it('are none without a build', async () => {
    expect(await counts('?branch=other')).toEqual({
      ...{
        branch: 'other',
        target: expect.any(Number),
        builds: [],
        counts: [],
        left_out: 0,
        usual_nodes: null,
        recommended: null,
        bound: null,
      },
      sentence: 'No build of this branch has ended complete, so none can be played.',
      remarks: [],
    });
    expect(await counts('?target=0')).toEqual({ errors: [{ target: [expect.any(String)] }] });
  });
});
