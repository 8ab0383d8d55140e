import { describe, expect, it } from 'vitest';
import type { ProjectOverview } from '../../../../src/protocol/answers/trends.js';
import { createProject } from '../../../../src/server/engine/access.js';
import { type Browser, signedInOperator, signedInReader } from '../../../harness/browser.js';
import { Client } from '../../../harness/client.js';
import { Clock } from '../../../harness/clock.js';
import { initialise, record } from '../../../harness/messages.js';
import { overviewOf } from '../../../harness/overview.js';
import { startServer } from '../../../harness/server.js';
import { summaryOf } from '../../store/contract/fixtures.js';

const DAY = 86_400_000;

/** A server with the project `web` beside `default`, at 02:00 UTC. */
async function start() {
  const clock = new Clock();
  clock.advance({ seconds: 7200 });
  const server = await startServer({}, clock.now);
  const { id, token } = await createProject(server.store.access, 'web', clock.millis);
  const client = new Client(server.url, token);
  const overview = async (browser: Browser): Promise<ProjectOverview[]> => (await browser.get('/dashboard/projects')).json.projects;
  /** Records a build whose summary is as given. */
  const addBuild = async (commit_hash: string, summary: Parameters<typeof summaryOf>[0]) => {
    await record(client, { commit_hash, node_total: 1 });
    const build = (await server.store.builds.find(id, { commit_hash, branch: 'main', node_total: 1 }))!;
    await server.store.summaries.put(build, summaryOf({ recorded: 1, started_at: clock.millis, ...summary }));
    return build.id;
  };
  return { server, clock, id, client, overview, addBuild };
}

describe('the overview of the projects', () => {
  it('of a project without builds is empty', async () => {
    const { server, clock, id, overview } = await start();
    expect(await overview(await signedInOperator(server.url, server.store, clock.millis))).toEqual([
      overviewOf('default'),
      overviewOf('web', { id }),
    ]);
  });

  it('counts the builds of today, measures the complete ones of 30 days, and has the last ones, oldest first', async () => {
    const { server, clock, id, overview, addBuild } = await start();
    await addBuild('31 days ago', { started_at: clock.millis - 30 * DAY });
    await addBuild('yesterday', { started_at: clock.millis - DAY });
    const failed = await addBuild('failed', { line: { failed: 1, wall: 60, floor: 50, saved: 45 } });
    const incomplete = await addBuild('incomplete', { line: { missing: 2, saved: -900 }, idle_seconds: 180 });
    await addBuild('unplanned', { line: { kind: 'recordings', wall: 61, saved: 44 } });
    const reader = await signedInReader(server.url, server.store, id, clock.millis);
    const [web, ...others] = await overview(reader);
    expect(others).toEqual([]);
    expect(web).toMatchObject({
      name: 'web',
      builds_today: 3,
      incomplete_today: 1,
      unplanned_today: 1,
      with_failures_today: 1,
      passed_today: 0,
      running: 0,
      median_wall: 60.5,
      idle_share: 0.045,
      measured_day: '2026-01-01',
      // One at a time would have taken 105 s each; the planned and complete builds took 100 and 60 s.
      saved_30_days: 50,
      builds_30_days: 2,
    });
    expect(web!.recent).toHaveLength(5);
    expect(web!.recent.slice(2, 4)).toEqual([
      { id: failed, state: 'failed', wall: 60, floor: 50, failed: 1, missing: 0 },
      { id: incomplete, state: 'missing', wall: 100, floor: 80, failed: null, missing: 2 },
    ]);
  });

  it('measures the last day with a complete build', async () => {
    const { server, clock, id, overview, addBuild } = await start();
    await addBuild('yesterday', { started_at: clock.millis - DAY });
    await addBuild('dead', { line: { missing: 2, wall: 900 } });
    const [web] = await overview(await signedInReader(server.url, server.store, id, clock.millis));
    expect(web).toMatchObject({ builds_today: 1, incomplete_today: 1, median_wall: 100, idle_share: 0.045, measured_day: '2025-12-31' });
  });

  it('does not count a running build on its day, and shows CI runs without a recording as running', async () => {
    const { server, clock, id, client, overview, addBuild } = await start();
    await addBuild('running', { line: { missing: 5, wall: 7, saved: -600 }, state: 'running' });
    await initialise(client, ['a_spec.rb'], { commit_hash: 'begun' });
    const [web] = await overview(await signedInReader(server.url, server.store, id, clock.millis));
    expect(web).toMatchObject({ running: 2, incomplete_today: 0, builds_today: 0, median_wall: null, saved_30_days: 0, recent: [] });
  });

  it('has at most 30 of the last builds', async () => {
    const { server, clock, id, overview, addBuild } = await start();
    for (let i = 0; i < 33; i++) await addBuild(`c${i}`, {});
    const [web] = await overview(await signedInReader(server.url, server.store, id, clock.millis));
    expect([web!.recent.length, web!.builds_30_days]).toEqual([30, 33]);
  });
});
