import { describe, expect, it } from 'vitest';
import { Clock } from '../../harness/clock.js';
import { connect, initialise, pull, readSplit, record, startSplit, timedTestFiles } from '../../harness/messages.js';
import { problemsIn } from '../../harness/problems.js';
import { startServer, type TestServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

/** Records a build that has a run, a split and a queue. */
async function recordBuild(server: TestServer): Promise<void> {
  await record(server, { test_files: timedTestFiles({ 'spec/a_spec.rb': 3 }) });
  for (const start of [startSplit, initialise]) await start(server, ['spec/a_spec.rb']);
}

/** Returns what the API has of everything that expires. */
async function remaining(server: TestServer) {
  const last = await server.get('/v1/build_distributions/last?commit_hash=c0ffee1&branch=main&node_total=2&node_index=0');
  return {
    builds: (await server.get('/v1/builds')).json.data.length as number,
    last: last.json.test_files.length as number,
    split: (await readSplit(server)).json.code === undefined,
    queue: (await connect(server, { skip_pull: true })).json.code === undefined,
  };
}

it('what a deleted project recorded goes within two sweeps, five minutes later, and the metrics say so', async () => {
  const clock = new Clock();
  const server = await startServer({ dataDir: temporaryFolder() }, clock.now);
  await recordBuild(server);
  const { id } = (await server.store.access.project('default'))!;
  await server.store.access.deleteProject(id, clock.now());
  expect(await pull(server)).toMatchObject({ status: 403 });
  const { records } = await server.store.maintenance.load();
  expect(records).toEqual({ build: 1, subset: 1, path: 1, split: 1, queue: 1, ci_run: 2 });
  clock.advance({ seconds: 300 });
  await server.service.sweep();
  expect((await server.store.maintenance.load()).records).toEqual(records);
  clock.advance({ milliseconds: 1 });
  for (let sweeps = 0; sweeps < 2; sweeps++) await server.service.sweep();
  expect((await server.store.maintenance.load()).records).toEqual({ build: 0, subset: 0, path: 0, split: 0, queue: 0, ci_run: 0 });
  expect((await server.get('/metrics')).text).toContain('ballast_expired_records_total{kind="project"} 1\n');
  await server.close();
  expect(await problemsIn(server.dataDir)).toEqual([]);
});

describe('after the retention', () => {
  /** Starts a server with one build. */
  async function withOneBuild(settings: Parameters<typeof startServer>[0] = {}) {
    const clock = new Clock();
    const server = await startServer({ ...settings, retentionDays: '90' }, clock.now);
    await recordBuild(server);
    return { clock, server };
  }

  it.each([
    ['everything is left in the last millisecond', 0, { builds: 1, last: 1, split: true, queue: true }],
    ['nothing is left a millisecond later', 1, { builds: 0, last: 0, split: false, queue: false }],
  ])('%s', async (_, milliseconds, expected) => {
    const { clock, server } = await withOneBuild();
    clock.advance({ days: 90, milliseconds });
    await server.service.sweep();
    expect(await remaining(server)).toEqual(expected);
  });

  it('everything is left if the clock is years ahead of the last time that the store was in use', async () => {
    const dataDir = temporaryFolder();
    const { clock, server } = await withOneBuild({ dataDir });
    await server.close();
    clock.advance({ days: 3650 });
    const again = await startServer({ dataDir }, clock.now);
    // After the sweep.
    await again.close();
    expect(again.log.map(line => JSON.parse(line) as object)).toContainEqual(expect.objectContaining({ days: 3650, level: 'warn' }));
    expect(await remaining(await startServer({ dataDir }, clock.now))).toEqual({ builds: 1, last: 1, split: true, queue: true });
  });

  it('a split and a queue in use are left, so that no build loses them while it runs', async () => {
    const { clock, server } = await withOneBuild();
    clock.advance({ days: 89 });
    await readSplit(server);
    await pull(server);
    clock.advance({ days: 90 });
    await server.service.sweep();
    expect(await remaining(server)).toEqual({ builds: 0, last: 0, split: true, queue: true });
    clock.advance({ days: 90, milliseconds: 1 });
    await server.service.sweep();
    expect(await remaining(server)).toEqual({ builds: 0, last: 0, split: false, queue: false });
  });
});
