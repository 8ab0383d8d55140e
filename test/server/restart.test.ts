import { describe, expect, it } from 'vitest';
import { type ServerProcess, spawnServer } from '../harness/process.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const key = { commit_hash: 'abc', branch: 'main', node_total: 3 };
const files = (count: number) => Array.from({ length: count }, (_, i) => ({ path: `spec/${i}_spec.rb` }));

const split = (server: ServerProcess, node_index: number, given: object = {}) =>
  server.post('/v1/build_distributions/subset', {
    ...key,
    node_index,
    ci_build_id: 1,
    cache_read_attempt: true,
    ...given,
  });

const pull = (server: ServerProcess, node_index: number, batch_uuid: string, given: object = {}) =>
  server.post('/v1/queues/queue', {
    ...key,
    node_index,
    node_build_id: 1,
    can_initialize_queue: false,
    attempt_connect_to_queue: false,
    batch_uuid,
    ...given,
  });

const record = (server: ServerProcess, node_index: number) =>
  server.post('/v1/build_subsets', { ...key, node_index, test_files: [{ path: 'spec/0_spec.rb', time_execution: 5 }] });

describe.each(['SIGTERM', 'SIGKILL'] as const)('after a restart by %s', signal => {
  it('splits, builds and open queues are unchanged', async () => {
    const dataDir = temporaryFolder();
    const before = await spawnServer({ dataDir });
    for (const node_index of [0, 1]) expect((await record(before, node_index)).status).toBe(201);
    await split(before, 0, { cache_read_attempt: false, test_files: files(50) });
    await split(before, 0, { commit_hash: 'large', cache_read_attempt: false, test_files: files(1200) });
    const dynamic = { fixed_test_suite_split: false, ci_build_id: 7 };
    await split(before, 0, { ...dynamic, cache_read_attempt: false, test_files: files(40) });
    const variants = [{}, { commit_hash: 'large' }, dynamic];
    const splitsOf = async (server: ServerProcess) => {
      const texts: string[] = [];
      for (const given of variants) for (const node of [0, 1, 2]) texts.push((await split(server, node, given)).text);
      return texts;
    };
    const splits = await splitsOf(before);
    const [build] = (await before.get('/v1/builds')).json.data;
    const detail = (await before.get(`/v1/builds/${build.id}`)).text;

    const start = { can_initialize_queue: true, test_files: files(30) };
    const first = await pull(before, 0, 'u-0', start);
    const second = await pull(before, 1, 'u-1');
    expect(await before.stop(signal)).toBe(signal === 'SIGTERM' ? 0 : null);

    const after = await spawnServer({ dataDir });
    expect(await splitsOf(after)).toEqual(splits);
    expect((await after.get(`/v1/builds/${build.id}`)).text).toBe(detail);
    expect((await pull(after, 0, 'u-0')).text).toBe(first.text);
    expect((await pull(after, 0, 'u-0', { ...start, attempt_connect_to_queue: true, test_files: undefined })).text).toBe(first.text);

    const handed = [...first.json.test_files, ...second.json.test_files] as { path: string }[];
    for (let pulls = 0; pulls < 40; pulls++) {
      const reply = await pull(after, pulls % 3, `later-${pulls}`);
      expect(reply.json.queue_name).toBe(first.json.queue_name);
      handed.push(...(reply.json.test_files as { path: string }[]));
    }
    expect(handed.map(({ path }) => path).sort()).toEqual(
      files(30)
        .map(({ path }) => path)
        .sort(),
    );
    // A drained queue is remembered.
    expect((await pull(after, 2, 'again', start)).json.test_files).toEqual([]);
  });
});

describe('after a restart', () => {
  it('a fixed queue split gives each node its earlier files, under a new CI build', async () => {
    const dataDir = temporaryFolder();
    const before = await spawnServer({ dataDir });
    const had = [
      (await pull(before, 0, 'u-0', { can_initialize_queue: true, test_files: files(12) })).json.test_files as unknown[],
      (await pull(before, 1, 'u-1')).json.test_files as unknown[],
    ];
    had[0]!.push(...((await pull(before, 0, 'u-2')).json.test_files as unknown[]));
    await record(before, 0);
    await before.stop('SIGKILL');

    const after = await spawnServer({ dataDir });
    const again = {
      can_initialize_queue: true,
      attempt_connect_to_queue: true,
      fixed_queue_split: true,
      node_build_id: 2,
    };
    const [dead, recorded] = [await pull(after, 1, 'v-1', again), await pull(after, 0, 'v-0', again)];
    expect(recorded.json.test_files).toEqual(had[0]);
    expect(recorded.json.queue_name).toBeNull();
    expect(recorded.json.build_subset_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(dead.json.test_files).toEqual(had[1]);
    expect(dead.json.queue_name).not.toBeNull();
    expect(dead.json.build_subset_id).toBeNull();

    const rest: unknown[] = [];
    for (let pulls = 0; pulls < 20; pulls++) {
      const next = { fixed_queue_split: true, node_build_id: 2 };
      rest.push(...((await pull(after, pulls % 3, `w-${pulls}`, next)).json.test_files as unknown[]));
    }
    expect(had[0]!.length + had[1]!.length + rest.length).toBe(12);
  });
});
