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
});

describe('nodes that initialise many large suites at the same time', () => {
  const rounds = Array.from({ length: 8 }, (_, round) => `round-${round}`);
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
