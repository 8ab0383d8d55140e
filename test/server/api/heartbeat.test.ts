import { describe, expect, it, vi } from 'vitest';
import { createProject } from '../../../src/server/engine/access.js';
import { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { getCompleteness, recordPaths } from '../../harness/completeness.js';
import { type Fields, manyPaths, sortPaths } from '../../harness/messages.js';
import { QueueNode } from '../../harness/queue-node.js';
import { startServer, type TestServer } from '../../harness/server.js';

const SUITE = manyPaths(8);
const BEATS = { sends_heartbeats: true };

/** A server, and two nodes that work on a queue and send heartbeats. */
async function started(nodes = 2) {
  const clock = new Clock();
  const server = await startServer({}, clock.now, clock.now);
  const all = Array.from({ length: nodes }, (_, node) => new QueueNode(server, node, { ...BEATS, node_total: nodes }));
  for (const node of all) await node.start(SUITE);
  return { server, clock, nodes: all };
}

it('keeps the files of a node that sends heartbeats, and gives those of one that is silent for 90 seconds to the next', async () => {
  const { server, clock, nodes } = await started();
  const [alive, dead] = nodes as [QueueNode, QueueNode];
  const lost = [...dead.paths];
  const ran = [...alive.paths];
  for (let i = 0; i < 6; i++) {
    expect(await alive.heartbeat()).toMatchObject({ status: 200, json: { lease_ends_in: 90 } });
    clock.advance({ seconds: 15 });
  }
  ran.push(...(await alive.pullAll()));
  expect(ran).toEqual(expect.arrayContaining(lost));
  expect(sortPaths(ran)).toEqual(sortPaths(SUITE));
  await recordPaths(server, 0, ran, { ci_build_id: '100' });
  const { status, json } = await getCompleteness(server, { node_build_id: '100' });
  expect([status, json.handed_on.map(({ path, node_index }: any) => [path, node_index])]).toEqual([200, lost.map(path => [path, 1])]);
});

it('lets one node stand by while another works, also one that has just come, and says when to pull again', async () => {
  const late = await started();
  const [, leaves] = late.nodes as [QueueNode, QueueNode];
  await leaves.pullAll();
  const comes = new QueueNode(late.server, 1, { ...BEATS, node_total: 2 });
  expect((await comes.connect()).json).toMatchObject({ paths: [], pull_again_in: 1 });

  const { nodes } = await started(3);
  const [first, second, third] = nodes as [QueueNode, QueueNode, QueueNode];
  await first.pullAll();
  expect((await first.pull()).json).toMatchObject({ paths: [], batch_id: null, pull_again_in: 1 });
  await second.pullAll();
  expect((await second.pull()).json.pull_again_in).toBeUndefined();
  await third.pullAll();
  expect((await first.pull()).json.pull_again_in).toBeUndefined();
});

it('refuses a heartbeat for what does not exist, from another process of the node, and with the token of another project', async () => {
  const { server, nodes } = await started();
  const [node] = nodes as [QueueNode];
  const refused = async (more: Fields) => (await node.heartbeat(more)).status;
  expect([
    await refused({ test_queue_id: 'unknown' }),
    await refused({ branch: 'other' }),
    await refused({ node_uuid: 'other' }),
    await refused({ node_index: 9 }),
    await refused({ node_uuid: undefined }),
  ]).toEqual([422, 422, 409, 422, 422]);
  const other = new Client(server.url, (await createProject(server.store.access, 'other', Date.now())).token);
  expect((await other.post('/v2/queues/heartbeat', node.process)).status).toBe(422);
  expect((await node.heartbeat()).status).toBe(200);
});

describe('what a node had run before it fell silent', () => {
  const TIMES = (node: QueueNode) => node.paths.map((_, i) => (i === 0 ? null : 2 + i));

  /** Two nodes, of which the second one told the times of a batch, and has another one. Returns the paths of the first. */
  async function silent(failed: (paths: string[]) => string[] = () => []) {
    const { server, clock, nodes } = await started();
    const [alive, dead] = nodes as [QueueNode, QueueNode];
    const told = [...dead.paths];
    await dead.next(failed(told), { times: TIMES(dead) });
    const ran = [...alive.paths];
    for (let i = 0; i < 6; i++) {
      clock.advance({ seconds: 15 });
      await alive.heartbeat();
    }
    ran.push(...(await alive.pullAll()));
    await recordPaths(server, 0, ran, { ci_build_id: '100' });
    await server.service.summarize();
    return { server, clock, alive, dead, told };
  }

  const runsOf = async (server: TestServer, node: number) => {
    const [{ id }] = (await server.get('/v1/builds')).json.data;
    const subsets: any[] = (await server.get(`/v1/builds/${id}`)).json.build_subsets;
    return subsets.filter(({ node_index }) => node_index === node);
  };

  it('is recorded for it, so that the gate passes', async () => {
    const { server, told } = await silent();
    await vi.waitFor(async () => expect(await runsOf(server, 1)).toHaveLength(1));
    const [{ test_files }] = await runsOf(server, 1);
    expect(sortPaths(test_files.map(({ path }: any) => path))).toEqual(sortPaths(told));
    const { status, json } = await getCompleteness(server, { node_build_id: '100' });
    expect([status, json.errors]).toEqual([200, []]);
  });

  it('is recorded without what failed, which the gate misses', async () => {
    const { server, told } = await silent(paths => paths.slice(0, 1));
    await vi.waitFor(async () => expect((await server.get('/v1/builds')).json.data).not.toEqual([]));
    const { status, json } = await getCompleteness(server, { node_build_id: '100' });
    expect([status, json.handed_out_not_recorded.map(({ path }: any) => path)]).toEqual([409, told.slice(0, 1)]);
  });

  it('is not to be recorded again when it comes back, which it is told, also when it repeats its pull', async () => {
    const { server, dead } = await silent();
    await vi.waitFor(async () => expect(await runsOf(server, 1)).toHaveLength(1));
    const last = [...dead.paths];
    await dead.next([], { times: TIMES(dead) });
    expect((await dead.pull()).json).toMatchObject({ paths: [], is_recorded: true });
    expect(last).not.toEqual([]);
  });

  it('is not recorded by the server if the node told no time for each file', async () => {
    const { server, clock, nodes } = await started();
    const [alive, dead] = nodes as [QueueNode, QueueNode];
    await dead.next([], { times: [1, 2, 3, 4, 5, 6, 7, 8, 9] });
    for (let i = 0; i < 6; i++) {
      clock.advance({ seconds: 15 });
      await alive.heartbeat();
    }
    await recordPaths(server, 0, [...alive.paths, ...(await alive.pullAll())], { ci_build_id: '100' });
    expect((await getCompleteness(server, { node_build_id: '100' })).status).toBe(409);
    expect(await runsOf(server, 1)).toEqual([]);
  });
});
