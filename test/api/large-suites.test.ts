import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { Client, Reply } from '../harness/client.js';
import { SharedServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

interface TestFile {
  path: string;
  time_execution: number | null;
}

/** Two worker threads for all tests, as each loads the program. */
const shared = new SharedServer({ dataDir: temporaryFolder(afterAll), workers: '2' });

const NODES = 6;
const key = { commit_hash: 'abc', branch: 'main', node_total: NODES };
const node = { ...key, node_index: 0 };

const paths = (count: number) => Array.from({ length: count }, (_, i) => `spec/models/file_${i}_spec.rb`);
const testFiles = (count: number) => paths(count).map(path => ({ path }));
const secondsOf = (i: number) => 1 + ((i * 37) % 100);

/** Three of every four files, with a time. */
const measuredFiles = (count: number) => paths(count).flatMap((path, i) => (i % 4 > 0 ? [{ path, time_execution: secondsOf(i) }] : []));

const record = (client: Client, test_files: readonly object[], more: object = {}) =>
  client.post('/v1/build_subsets', { ...node, commit_hash: 'recorded', ...more, test_files });

/** @param blanks appended to the body, so that it is large enough for a thread */
const split = (client: Client, node_index: number, test_files: readonly object[] | undefined, commit_hash: string, blanks = 0) =>
  client.post(
    '/v1/build_distributions/subset',
    JSON.stringify({ ...key, commit_hash, node_index, ci_build_id: 1, cache_read_attempt: !test_files, test_files }) + ' '.repeat(blanks),
  );

/** Creates the split of a commit with the list of node 0. Returns the files of each node. */
async function splitOf(client: Client, count: number, commit_hash: string, blanks = 0): Promise<TestFile[][]> {
  const replies = [await split(client, 0, testFiles(count), commit_hash, blanks)];
  for (let index = 1; index < NODES; index++) replies.push(await split(client, index, undefined, commit_hash));
  expect(new Set(replies.map(reply => reply.json.build_distribution_id)).size).toBe(1);
  return replies.map(reply => reply.json.test_files as TestFile[]);
}

describe('a suite around 1,000 files', () => {
  it.each([999, 1000, 1001])('of %i is split evenly, with each file once', async count => {
    const server = await shared.project();
    await record(server, measuredFiles(count));
    const nodes = await splitOf(server, count, 'abc');
    const all = nodes.flat();
    expect(all.map(({ path }) => path).sort()).toEqual(paths(count).sort());
    const times = new Map(measuredFiles(count).map(file => [file.path, file.time_execution]));
    for (const { path, time_execution } of all) expect(time_execution).toBe(times.get(path) ?? null);
    // A file that was never measured is expected to take at most as long as the slowest one.
    const loads = nodes.map(files => files.reduce((sum, file) => sum + (file.time_execution ?? 75), 0));
    expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(200);
  });

  it('has the same split for the next commit, and another one once a run was recorded', async () => {
    const server = await shared.project();
    await record(server, measuredFiles(1500));
    const first = await splitOf(server, 1500, 'first', 100_000);
    expect(await splitOf(server, 1500, 'second', 100_000)).toEqual(first);
    // The first file was never measured.
    await record(server, [{ path: paths(1)[0]!, time_execution: 500 }], { commit_hash: 'later' });
    const third = await splitOf(server, 1500, 'third', 100_000);
    expect(third.flat().find(({ path }) => path === paths(1)[0])).toEqual({ path: paths(1)[0], time_execution: 500 });
    expect(await splitOf(server, 1500, 'fourth', 100_000)).toEqual(third);
  });

  it('has a queue of its own after a split of the same list', async () => {
    const server = await shared.project();
    await splitOf(server, 1500, 'abc', 100_000);
    const connect = { can_initialize_queue: true, attempt_connect_to_queue: false, node_build_id: '1', test_files: testFiles(1500) };
    const pulls = await Promise.all(['a', 'b'].map(commit_hash => server.post('/v1/queues/queue', { ...node, ...connect, commit_hash })));
    expect(pulls.map(({ status }) => status)).toEqual([200, 200]);
    expect(pulls[1]!.json.test_files).toEqual(pulls[0]!.json.test_files);
  });

  it.each([10, 999])('of %i has the same split from a thread as from the main thread', async count => {
    const server = await shared.project();
    await record(server, measuredFiles(count));
    const outside = await splitOf(server, count, 'outside');
    const inside = await splitOf(server, count, 'inside', 100_000);
    expect(inside).toEqual(outside);
  });

  it.each([999, 1001])('of %i is handed out by a queue, each file once', async count => {
    const server = await shared.project();
    await record(server, measuredFiles(count));
    const pull = (more: object): Promise<Reply> =>
      server.post('/v1/queues/queue', {
        ...node,
        node_build_id: 1,
        can_initialize_queue: false,
        attempt_connect_to_queue: false,
        batch_uuid: randomUUID(),
        ...more,
      });
    let reply = await pull({ can_initialize_queue: true, test_files: testFiles(count) });
    const first = reply.json.test_files[0] as TestFile;
    expect(first.time_execution).toBe(Math.max(...measuredFiles(count).map(file => file.time_execution)));
    const handed: string[] = [];
    for (let pulls = 0; reply.json.test_files.length > 0 && pulls < count; pulls++) {
      for (const { path } of reply.json.test_files as TestFile[]) handed.push(path);
      reply = await pull({ node_index: pulls % NODES });
    }
    expect(handed.sort()).toEqual(paths(count).sort());
  });

  it('of 1,001 is compared with a short list, and other lists of the request are ignored', async () => {
    const server = await shared.project();
    const initialize = (count: number, node_index: number) =>
      server.post('/v1/queues/queue', {
        ...node,
        node_index,
        node_build_id: 1,
        can_initialize_queue: true,
        test_files: testFiles(count),
        paths: [],
      });
    expect((await initialize(1001, 0)).status).toBe(200);
    expect((await initialize(10, 1)).status).toBe(200);
  });

  it('of 1,500 that all nodes initialise concurrently has one split and one queue', async () => {
    const server = await shared.project();
    const indices = Array.from({ length: NODES }, (_, index) => index);
    const splits = await Promise.all(indices.map(index => split(server, index, testFiles(1500), 'abc')));
    expect(new Set(splits.map(reply => reply.json.build_distribution_id as string)).size).toBe(1);
    expect(splits.flatMap(reply => reply.json.test_files as TestFile[]).length).toBe(1500);

    const request = { ...key, node_build_id: 1, can_initialize_queue: true, attempt_connect_to_queue: false };
    const test_files = testFiles(1500);
    const pulls = await Promise.all(indices.map(node_index => server.post('/v1/queues/queue', { ...request, node_index, test_files })));
    expect(pulls.map(reply => reply.json.code as unknown)).toEqual(Array(NODES).fill(undefined));
    expect(new Set(pulls.map(reply => reply.json.queue_name as string)).size).toBe(1);
    const files = pulls.flatMap(reply => (reply.json.test_files as TestFile[]).map(({ path }) => path));
    expect(files.length).toBeGreaterThan(0);
    expect(new Set(files).size).toBe(files.length);
  });
});

describe('nodes that initialise many large suites at the same time', () => {
  const rounds = Array.from({ length: 30 }, (_, round) => `round-${round}`);
  const test_files = Array.from({ length: 1000 }, (_, i) => ({ path: `${1000 + i}` }));

  it('always get a queue, which one of them creates', async () => {
    const server = await shared.project();
    const request = { ...node, can_initialize_queue: true, attempt_connect_to_queue: false, test_files };
    const answers = await Promise.all(
      rounds.map(async node_build_id => {
        const pulls = Array.from({ length: NODES }, (_, node_index) =>
          server.post('/v1/queues/queue', { ...request, node_index, node_build_id }),
        );
        return (await Promise.all(pulls)).map(({ status, json }) => [status, json.code as unknown]);
      }),
    );
    expect(answers.flat().filter(([status, code]) => status !== 200 || code !== undefined)).toEqual([]);
  });

  it('always get a split, which one of them creates', async () => {
    const server = await shared.project();
    const answers = await Promise.all(
      rounds.map(async commit_hash => {
        const splits = Array.from({ length: NODES }, (_, index) => split(server, index, test_files, commit_hash));
        return (await Promise.all(splits)).map(({ status, json }) => [status, json.code as unknown]);
      }),
    );
    expect(answers.flat().filter(([status, code]) => status !== 200 || code !== undefined)).toEqual([]);
  });
});

describe('a large request that is refused', () => {
  it('gets the errors of two of 1,001 entries by position', async () => {
    const server = await shared.project();
    const test_files = [...measuredFiles(1400).slice(0, 999), { path: 'ab', time_execution: 1 }, { path: 'abc', time_execution: 'x' }];
    const reply = await record(server, test_files, { node_index: NODES });
    expect(reply.status).toBe(422);
    expect(reply.json).toEqual({
      errors: [
        {
          node_index: [`must be less than or equal to ${NODES - 1}`],
          test_files: [{ 999: { path: ['is too short (minimum is 3 characters)'] } }, { 1000: { time_execution: ['is not a number'] } }],
        },
      ],
    });
    expect((await server.get('/v1/builds')).json.data).toEqual([]);
  });

  it('gets a 400 if it is not JSON', async () => {
    const server = await shared.project();
    const reply = await server.post('/v1/build_subsets', `{"test_files": [${'{"path":"spec/a_spec.rb"},'.repeat(4000)}`);
    expect(reply).toMatchObject({
      status: 400,
      json: { errors: ['the request body is not valid JSON: it cannot be parsed'] },
    });
  });

  it('gets a 403 if the token in its body is invalid', async () => {
    const server = await shared.project();
    const send = (test_suite_token: string | undefined) =>
      server.send('/v1/build_subsets', {
        method: 'POST',
        body: JSON.stringify({ ...node, test_suite_token, test_files: measuredFiles(1500) }),
      });
    const [wrong, none] = [await send('x'.repeat(40)), await send(undefined)];
    expect(wrong).toMatchObject({ status: 403, json: { errors: ['invalid test suite token'] } });
    expect(none.status).toBe(403);
    expect(none.json.errors[0]).toContain('send the header SERVICE-TEST-SUITE-TOKEN');
    expect((await send(server.token)).status).toBe(201);
    expect((await server.get('/v1/builds')).json.data.length).toBe(1);
  });
});

describe('a large build', () => {
  it('has each run of each node as it was recorded', async () => {
    const server = await shared.project();
    const runs = [measuredFiles(1600), measuredFiles(1200), []];
    for (const [node_index, files] of runs.entries()) {
      expect((await record(server, files, { node_index })).status).toBe(201);
    }
    const [build] = (await server.get('/v1/builds')).json.data;
    const detail = (await server.get(`/v1/builds/${build.id}`)).json;
    expect({ ...detail, build_subsets: undefined }).toEqual({ ...build, build_subsets: undefined });
    const subsets = detail.build_subsets as { node_index: number; test_files: unknown }[];
    expect(subsets.length).toBe(3);
    for (const { node_index, test_files } of subsets) expect(test_files).toEqual(runs[node_index]);
  });

  it('is the last distribution, with the median of each path, slowest first', async () => {
    const server = await shared.project();
    for (const factor of [1, 5, 2]) {
      const files = measuredFiles(1600).map(({ path, time_execution }) => ({
        path,
        time_execution: time_execution * factor,
      }));
      await record(server, files);
    }
    const reply = await server.get('/v1/build_distributions/last?commit_hash=new&branch=main&node_total=6&node_index=0');
    const expected = measuredFiles(1600)
      .map(({ path, time_execution }) => ({ path, time_execution: time_execution * 2 }))
      .sort((a, b) => b.time_execution - a.time_execution || (a.path < b.path ? -1 : 1));
    expect(reply.status).toBe(200);
    expect(reply.json.test_files).toEqual(expected);
    expect(reply.json.time_execution).toBe(expected.reduce((sum, file) => sum + file.time_execution, 0));
    expect(reply.json.build_distribution_id).toMatch(/^[0-9a-f-]{36}$/);
  });
});
