import { describe, expect } from 'vitest';
import type { Client } from '../../harness/client.js';
import { buildKey, initialise, manyPaths, pathsIn, timedTestFiles } from '../../harness/messages.js';
import { QueueNode } from '../../harness/queue-node.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const shared = new SharedServer();
const it = testsWith(shared);
const suite = manyPaths(40);
const [last = '', other = ''] = suite.slice(-2);

interface Options {
  failing?: readonly string[];
  ciRun?: string;
  order?: string;
  /** Batches after which the node ends. */
  most?: number;
}

/** Runs a build on one of two nodes, where each file takes 10 s. Returns its batches. */
async function build(client: Client, commit_hash: string, options: Options = {}): Promise<string[][]> {
  const { failing = [], ciRun = commit_hash, order, most = Infinity } = options;
  const node = new QueueNode(client, 0, { commit_hash, test_queue_id: ciRun, ...(order && { order }) });
  const batches = [await node.start(suite)];
  for (;;) {
    const batch = await node.next(node.paths.filter(path => failing.includes(path)));
    if (batch.length === 0 || batches.length === most) break;
    batches.push(batch);
  }
  await client.post('/v1/build_subsets', {
    ...buildKey,
    commit_hash,
    node_index: 0,
    ci_build_id: ciRun,
    tells_outcomes: true,
    test_files: batches.flat().map(path => ({ path, time_execution: 10, ...(failing.includes(path) && { outcome: 'failed' }) })),
  });
  return batches;
}

describe('a queue', () => {
  it('hands out first what failed in the newest run of the branch, in a batch of its own', async ({ server }) => {
    await build(server, 'aaaaaa1', { failing: [last] });
    const [first, second] = await build(server, 'aaaaaa2', { failing: [other] });
    expect(first).toEqual([last]);
    expect(second!.length).toBeGreaterThan(1);
    const [newest] = (await server.get('/v1/builds')).json.data as [{ id: string }];
    const why = (await server.get(`/v1/builds/${newest.id}/why`)).json;
    expect(why.batches[0].reason).toContain('Node 0 got files that go first: one file failed in the newest run of the branch. ');
    expect(why.batches[1].reason).toContain('its share');
    expect((await build(server, 'aaaaaa3'))[0]).toEqual([other]);
    const passed = await build(server, 'aaaaaa4');
    expect(passed[0]!.length).toBeGreaterThan(1);
    expect(passed.flat().sort()).toEqual([...suite].sort());
  });

  it('hands it out like other files where the client says so, to older clients, and on other branches', async ({ server }) => {
    await build(server, 'aaaaaa1', { failing: [last] });
    const usual = async (batch: Promise<string[] | undefined>) => expect((await batch)?.length).toBeGreaterThan(1);
    await usual(new QueueNode(server, 0, { commit_hash: 'aaaaaa2', order: 'slowest-first' }).start(suite));
    await usual(initialise(server, suite, { commit_hash: 'aaaaaa3' }).then(pathsIn));
    await usual(new QueueNode(server, 0, { commit_hash: 'aaaaaa4', branch: 'other' }).start(suite));
    const reply = await new QueueNode(server, 0, { commit_hash: 'aaaaaa5', order: 'by-name' }).initialise(suite);
    expect(reply).toMatchObject({ status: 422, json: { errors: [{ order: [expect.any(String)] }] } });
  });

  it('hands out first what was never measured', async ({ server }) => {
    const short = manyPaths(200);
    const test_files = timedTestFiles(Object.fromEntries(short.map(path => [path, 1])));
    await server.post('/v1/build_subsets', { ...buildKey, node_index: 0, test_files });
    const node = new QueueNode(server, 0, { commit_hash: 'aaaaaa1' });
    expect(await node.start([...short, 'new_spec.rb', 'newer_spec.rb'])).toEqual(['newer_spec.rb', 'new_spec.rb']);
  });

  it('tells by the build before what failed, if the newest one was cut short', async ({ server }) => {
    await build(server, 'aaaaaa1', { failing: [last] });
    await build(server, 'aaaaaa2', { order: 'slowest-first', most: 1 });
    expect((await build(server, 'aaaaaa3'))[0]).toEqual([last]);
  });

  it('hands out a flaky file first, but not twice in a row', async ({ server }) => {
    await build(server, 'aaaaaa1');
    await shared.summarize();
    await build(server, 'aaaaaa1', { ciRun: 'again', failing: [last] });
    await shared.summarize();
    expect((await build(server, 'aaaaaa2', { failing: [last] }))[0]).toEqual([last]);
    await shared.summarize();
    expect((await build(server, 'aaaaaa3', { failing: [last] }))[0]!.length).toBeGreaterThan(1);
    await shared.summarize();
    expect((await build(server, 'aaaaaa4', { failing: [last] }))[0]).toEqual([last]);
  });
});
