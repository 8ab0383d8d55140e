import { describe, expect } from 'vitest';
import type { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { SharedServer, testsWith } from '../../harness/server.js';
import { playCiRun } from '../../recomputed/ci-runs.js';

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });
const it = testsWith(shared);

/** The values of the metrics, by their names and labels but the project. */
async function metricsOf(client: Client): Promise<Record<string, number>> {
  const { status, text } = await client.get('/v1/metrics');
  expect(status).toBe(200);
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map(line => {
      const [, name, value] = /^ballast_project_(.+) (\S+)$/.exec(line)!;
      return [name!.replace(/project="[^"]*",?/, '').replace('{}', ''), Number(value)];
    }),
  );
}

const FILES = { 'a_spec.rb': 5, 'b_spec.rb': 5, 'c_spec.rb': 5 };

describe('GET /v1/metrics', () => {
  it('has zeros before the first build', async ({ server }) => {
    const metrics = await metricsOf(server);
    expect(metrics).toMatchObject({ 'builds_today{branch="default"}': 0, 'builds_today{branch="other"}': 0, running_builds: 0 });
    expect(Object.keys(metrics).filter(name => name.startsWith('last_build'))).toEqual([]);
  });

  it('tells of today and of the newest build', async ({ server }) => {
    const run = { mode: 'reports' as const, files: FILES, nodes: [{}, {}] };
    await playCiRun(server, clock, { ...run, commit_hash: 'c1' });
    await playCiRun(server, clock, { ...run, commit_hash: 'c2', fails: ['b_spec.rb'] });
    await shared.summarize();
    const metrics = await metricsOf(server);
    expect(metrics).toMatchObject({
      'builds_today{branch="default"}': 2,
      'complete_builds_today{branch="default"}': 2,
      'passed_builds_today{branch="default"}': 1,
      'failed_builds_today{branch="default"}': 1,
      'builds_today{branch="other"}': 0,
      last_build_nodes: 2,
      last_build_files: 3,
      last_build_failed_files: 1,
      last_build_missing_files: 0,
    });
    const parts = Object.entries(metrics).filter(([name]) => name.startsWith('part_seconds_today{branch="default"'));
    expect(parts.reduce((sum, [, seconds]) => sum + seconds, 0)).toBeCloseTo(metrics['wall_seconds_today{branch="default"}']!, 3);
    clock.advance({ days: 1 });
    expect(await metricsOf(server)).toMatchObject({ 'builds_today{branch="default"}': 0, last_build_files: 3 });
  });

  it('takes the token as Prometheus sends it, and no other', async ({ server }) => {
    const read = async (authorization?: string) =>
      (await fetch(`${server.url}/v1/metrics`, { headers: authorization === undefined ? {} : { authorization } })).status;
    expect(
      await Promise.all([`Bearer ${server.token}`, `bearer ${server.token}`, 'Bearer other', `Basic ${server.token}`, undefined].map(read)),
    ).toEqual([200, 200, 403, 403, 403]);
    // A proxy may use the header for itself.
    expect((await fetch(`${server.url}/v1/builds`, { headers: { authorization: `Bearer ${server.token}` } })).status).toBe(403);
  });
});
