import { beforeAll, describe, expect, it } from 'vitest';
import { noSettings } from '../../src/protocol/project-settings.js';
import { signedInOperator } from '../harness/browser.js';
import { Clock } from '../harness/clock.js';
import { type ProjectClient, SharedServer } from '../harness/server.js';
import { type Log, type Plan, playCiRun } from './ci-runs.js';
import { recompute } from './recompute.js';
import { nodes, suite } from './situations.js';

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });
const SETTINGS = { ...noSettings, price: { amount: 0.008, currency: 'USD' }, setup: 40, billing_step: 60 };
const files = suite(40);
const queue = { mode: 'queue', files } as const;

/** The CI runs of two builds: one was run again twice, and of each some node was. */
const PLAYED: Plan[] = [
  { ...queue, commit_hash: 'c0', nodes: nodes(4, { 2: { again: 500 } }) },
  { ...queue, commit_hash: 'c1', ci_run: '1', nodes: nodes(4, { 1: { dies: 1 } }) },
  { ...queue, commit_hash: 'c1', ci_run: '2', nodes: nodes(4, { 1: { dies: 1, returns: 10 } }) },
  { ...queue, commit_hash: 'c1', ci_run: '3', nodes: nodes(4, { 3: { again: 20 } }) },
];

/** What the CI system bills: each job with its set-up, in whole minutes. */
const billed = (jobs: readonly number[]) =>
  (SETTINGS.price.amount / 60) * jobs.reduce((sum, seconds) => sum + 60 * Math.ceil((seconds + SETTINGS.setup) / 60), 0);

describe('a project whose builds were run again, and some of their jobs, too', () => {
  let client: ProjectClient;
  let jobs: number[][];
  let minutes: any[];
  const get = async (path: string) => (await client.get(path)).json;

  beforeAll(async () => {
    client = await shared.project();
    await shared.store.access.replaceSettings(client.id, noSettings, SETTINGS);
    const logs: Log[] = [];
    for (const plan of PLAYED) {
      logs.push(await playCiRun(client, clock, plan));
      clock.advance({ seconds: 3600 });
      await shared.summarize();
    }
    const { builds } = await get('/v1/build_summaries');
    const asked = logs.map(({ commit_hash }, i) => {
      const { build_id } = builds.find((build: any) => build.commit_hash === commit_hash);
      return { path: `/v1/builds/${build_id}`, query: `?ci_run=${PLAYED[i]!.ci_run ?? `run of ${commit_hash}`}` };
    });
    minutes = await Promise.all(asked.map(({ path, query }) => get(`${path}/minutes${query}`)));
    jobs = await Promise.all(
      logs.map(async (log, i) => {
        const { path, query } = asked[i]!;
        const { batches } = await get(`${path}/why${query}`);
        return recompute(log, batches.findLast(({ decision }: any) => decision).decision).nodes.flatMap(node => node.jobs);
      }),
    );
  });

  it('has the price of each CI run on its page', () => {
    expect(jobs.map(({ length }) => length)).toEqual([5, 4, 5, 5]);
    expect(minutes.map(({ jobs, price }) => [jobs, price])).toEqual(
      jobs.map(own => [own.length, { amount: expect.closeTo(billed(own), 6), currency: 'USD' }]),
    );
  });

  it('has the sum of these prices as that of its days', async () => {
    const all = { builds: 2, ci_runs: 4, jobs: 19, price: { amount: expect.closeTo(billed(jobs.flat()), 5), currency: 'USD' } };
    const { setup } = SETTINGS;
    const job_seconds = jobs.flat().reduce((sum, each) => sum + each + setup, 0);
    expect((await get('/v1/trends/builds?by=range')).days).toMatchObject([{ ...all, job_seconds }]);
    const browser = await signedInOperator(shared.url, shared.store, clock.millis);
    const { projects } = (await browser.get('/dashboard/projects')).json as any;
    const { price, ci_runs } = all;
    expect(projects.find(({ id }: any) => id === client.id).cost_30_days).toEqual({ since: expect.any(String), price, jobs: 19, ci_runs });
  });

  it('has a price that follows its settings, without another reading of its builds', async () => {
    const settings = { ...SETTINGS, billing_step: null, setup: null };
    await shared.store.access.replaceSettings(client.id, SETTINGS, settings);
    const [{ price, job_seconds }] = (await get('/v1/trends/builds?by=range')).days;
    expect(job_seconds).toBe(jobs.flat().reduce((sum, each) => sum + each, 0));
    expect(price.amount).toBeCloseTo((job_seconds * SETTINGS.price.amount) / 60, 5);
  });
});
