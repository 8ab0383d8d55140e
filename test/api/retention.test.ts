import { describe, expect, it } from 'vitest';
import { Clock } from '../harness/clock.js';
import { problemsIn } from '../harness/problems.js';
import { startServer, type TestServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const key = { commit_hash: 'abc', branch: 'main', node_total: 1, node_index: 0 };
const test_files = [{ path: 'spec/a_spec.rb' }];

const split = (server: TestServer, more: object) => server.post('/v1/build_distributions/subset', { ...key, ci_build_id: 1, ...more });
const pull = (server: TestServer, more: object) =>
  server.post('/v1/queues/queue', { ...key, node_build_id: 1, can_initialize_queue: true, ...more });

/** Returns what the API has of everything that expires. */
async function remaining(server: TestServer) {
  const builds = (await server.get('/v1/builds')).json.data.length as number;
  const last = await server.get('/v1/build_distributions/last?commit_hash=abc&branch=main&node_total=1&node_index=0');
  const distribution = await split(server, { cache_read_attempt: true });
  const queue = await pull(server, { attempt_connect_to_queue: true, skip_pull: true });
  return {
    builds,
    last: last.json.test_files.length as number,
    split: distribution.json.code === undefined,
    queue: queue.json.code === undefined,
  };
}

it('what a deleted project recorded goes within two sweeps, five minutes later, and the metrics say so', async () => {
  const clock = new Clock();
  const server = await startServer({ dataDir: temporaryFolder() }, clock.now);
  await server.post('/v1/build_subsets', { ...key, test_files: [{ path: 'spec/a_spec.rb', time_execution: 3 }] });
  await split(server, { cache_read_attempt: false, test_files });
  await pull(server, { attempt_connect_to_queue: false, test_files });
  const { id } = (await server.store.access.project('default'))!;
  await server.store.access.deleteProject(id, clock.now());
  expect(await pull(server, { can_initialize_queue: false, attempt_connect_to_queue: false })).toMatchObject({ status: 403 });
  const { records } = server.store.maintenance.load();
  expect(records).toEqual({ build: 1, subset: 1, path: 1, split: 1, queue: 1, ci_run: 2 });
  clock.advance({ seconds: 300 });
  await server.service.sweep();
  expect(server.store.maintenance.load().records).toEqual(records);
  clock.advance({ milliseconds: 1 });
  for (let sweeps = 0; sweeps < 2; sweeps++) await server.service.sweep();
  expect(server.store.maintenance.load().records).toEqual({ build: 0, subset: 0, path: 0, split: 0, queue: 0, ci_run: 0 });
  expect((await server.get('/metrics')).text).toContain('ballast_expired_records_total{kind="project"} 1\n');
  await server.close();
  expect(await problemsIn(server.dataDir)).toEqual([]);
});

describe('after the retention', () => {
  /** Starts a server with one build that has a run, a split and a queue. */
  async function withOneBuild(clock: Clock, dataDir?: string): Promise<TestServer> {
    const server = await startServer({ ...(dataDir !== undefined && { dataDir }), retentionDays: '90' }, clock.now);
    await server.post('/v1/build_subsets', { ...key, test_files: [{ path: 'spec/a_spec.rb', time_execution: 3 }] });
    await split(server, { cache_read_attempt: false, test_files });
    await pull(server, { attempt_connect_to_queue: false, test_files });
    return server;
  }

  it.each([
    ['everything is left in the last millisecond', 0, { builds: 1, last: 1, split: true, queue: true }],
    ['nothing is left a millisecond later', 1, { builds: 0, last: 0, split: false, queue: false }],
  ])('%s', async (_, milliseconds, expected) => {
    const clock = new Clock();
    const server = await withOneBuild(clock);
    clock.advance({ days: 90, milliseconds });
    await server.service.sweep();
    expect(await remaining(server)).toEqual(expected);
  });

  it('everything is left if the clock is years ahead of the last time that the store was in use', async () => {
    const clock = new Clock();
    const dataDir = temporaryFolder();
    const { close } = await withOneBuild(clock, dataDir);
    await close();
    clock.advance({ days: 3650 });
    const again = await startServer({ dataDir }, clock.now);
    // After the sweep.
    await again.close();
    expect(again.log.map(line => JSON.parse(line) as object)).toContainEqual(expect.objectContaining({ days: 3650, level: 'warn' }));
    expect(await remaining(await startServer({ dataDir }, clock.now))).toEqual({ builds: 1, last: 1, split: true, queue: true });
  });

  it('a split and a queue in use are left, so that no build loses them while it runs', async () => {
    const clock = new Clock();
    const server = await withOneBuild(clock);
    clock.advance({ days: 89 });
    await split(server, { cache_read_attempt: true });
    await pull(server, { can_initialize_queue: false, attempt_connect_to_queue: false });
    clock.advance({ days: 90 });
    await server.service.sweep();
    expect(await remaining(server)).toEqual({ builds: 0, last: 0, split: true, queue: true });
    clock.advance({ days: 90, milliseconds: 1 });
    await server.service.sweep();
    expect(await remaining(server)).toEqual({ builds: 0, last: 0, split: false, queue: false });
  });

  it('the times of files that were recorded again are left', async () => {
    const clock = new Clock();
    const server = await startServer({ retentionDays: '10' }, clock.now);
    const record = (path: string) => server.post('/v1/build_subsets', { ...key, test_files: [{ path, time_execution: 3 }] });
    for (const path of ['spec/a_spec.rb', 'spec/b_spec.rb']) await record(path);
    clock.advance({ days: 6 });
    await record('spec/a_spec.rb');
    clock.advance({ days: 6 });
    await server.service.sweep();
    const both = [{ path: 'spec/a_spec.rb' }, { path: 'spec/b_spec.rb' }];
    const reply = await split(server, { cache_read_attempt: false, test_files: both });
    const times = (reply.json.test_files as { path: string; time_execution: number | null }[])
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ time_execution }) => time_execution);
    expect(times).toEqual([3, null]);
  });
});
