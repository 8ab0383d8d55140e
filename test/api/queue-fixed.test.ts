import { describe, expect, it } from 'vitest';
import type { Client } from '../harness/client.js';
import { Clock } from '../harness/clock.js';
import { connect, type Fields, initialise, manyPaths, pathsIn, pull, pullAll, record, sortPaths } from '../harness/messages.js';
import { SharedServer, startServer, startServerOnDisk } from '../harness/server.js';

const shared = new SharedServer();

const paths = manyPaths(40);
const fixed = { fixed_queue_split: true };

/** A dynamic queue over two nodes that take turns until the end; returns its name and what each node ran. */
async function firstRun(
  server: Client,
  { more = {}, files = paths }: { more?: Fields; files?: string[] } = {},
): Promise<{ queue_name: string; ran: string[][] }> {
  const replies = [[await initialise(server, files, more)], [await connect(server, { node_index: 1, ...more })]];
  for (let ended = 0; ended < 2; ) {
    ended = 0;
    for (const [node_index, node] of replies.entries()) {
      const reply = await pull(server, { node_index, ...more });
      if (pathsIn(reply).length === 0) ended += 1;
      else node.push(reply);
    }
  }
  const ran = replies.map(node => node.flatMap(pathsIn));
  expect(sortPaths(ran.flat())).toEqual(sortPaths(files));
  expect(replies.every(node => node.length > 1)).toBe(true);
  return { queue_name: replies[0]![0]!.json.queue_name, ran };
}

/** The id of the newest recorded run of a node. */
async function newestSubset(server: Client, node_index: number): Promise<string> {
  const [build] = (await server.get('/v1/builds')).json.data;
  const { build_subsets } = (await server.get(`/v1/builds/${build.id}`)).json;
  return build_subsets.find((subset: any) => subset.node_index === node_index).id;
}

describe('fixed_queue_split', () => {
  it('gives a retried node its own batches again, in one, then the end', async () => {
    const server = await shared.project();
    const { queue_name, ran } = await firstRun(server);
    for (const node_index of [0, 1]) {
      const again = await connect(server, { ...fixed, node_index });
      expect(again.json).toEqual({ queue_name, build_subset_id: null, test_files: expect.any(Array) });
      expect(sortPaths(pathsIn(again))).toEqual(sortPaths(ran[node_index]!));
      expect((await pull(server, { ...fixed, node_index })).json).toMatchObject({ test_files: [] });
    }
  });

  it('names the recorded subset it is based on instead of a queue, the newest one of the node', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    const { ran } = await firstRun(server);
    for (let i = 0; i < 2; i++) {
      clock.advance({ seconds: 60 });
      const test_files = ran[1]!.map(path => ({ path, time_execution: i + 1 }));
      await record(server, { node_index: 1, test_files });
    }
    const again = await connect(server, { ...fixed, node_index: 1 });
    expect(again.json).toMatchObject({ queue_name: null, build_subset_id: await newestSubset(server, 1) });
    expect(sortPaths(pathsIn(again))).toEqual(sortPaths(ran[1]!));
    // The other node died before it recorded anything.
    expect((await connect(server, { ...fixed, node_index: 0 })).json).toMatchObject({
      queue_name: expect.any(String),
      build_subset_id: null,
    });
  });

  it('repeats the split in another CI build of the same triple, however often', async () => {
    const server = await shared.project();
    const { ran } = await firstRun(server);
    for (const node_build_id of ['200', '300', '200']) {
      for (const node_index of [1, 0]) {
        const again = await connect(server, { ...fixed, node_build_id, node_index });
        expect(sortPaths(pathsIn(again))).toEqual(sortPaths(ran[node_index]!));
        expect(await pullAll(server, { ...fixed, node_build_id, node_index })).toEqual([]);
      }
    }
  });

  it('repeats the split when the node sends the list at once, even another list', async () => {
    const server = await shared.project();
    const { queue_name, ran } = await firstRun(server);
    const again = await initialise(server, ['new_spec.rb'], { ...fixed, node_build_id: '200' });
    expect(again.json.queue_name).toBe(queue_name);
    expect(sortPaths(pathsIn(again))).toEqual(sortPaths(ran[0]!));
  });

  it('lets a node go on with what is left after its own files', async () => {
    const server = await shared.project();
    const first = await initialise(server, paths);
    const again = await connect(server, { ...fixed, node_build_id: '200' });
    expect(pathsIn(again)).toEqual(pathsIn(first));
    const rest = await pullAll(server, { ...fixed, node_build_id: '200' });
    expect(sortPaths([...pathsIn(first), ...rest])).toEqual(paths);
    const third = await connect(server, { ...fixed, node_build_id: '300' });
    expect(sortPaths(pathsIn(third))).toEqual(paths);
  });

  it('lets a node that had nothing before go on with what is left', async () => {
    const server = await shared.project();
    const first = await initialise(server, paths);
    const other = await connect(server, { ...fixed, node_build_id: '200', node_index: 1 });
    expect(other.json).toMatchObject({ queue_name: first.json.queue_name, build_subset_id: null });
    const rest = await pullAll(server, { ...fixed, node_build_id: '200', node_index: 1 });
    expect(sortPaths([...pathsIn(first), ...pathsIn(other), ...rest])).toEqual(paths);
  });

  it('repeats the newest of several queues of the triple', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    await firstRun(server);
    clock.advance({ seconds: 60 });
    const newest = await firstRun(server, { more: { node_build_id: '200' }, files: manyPaths(55).slice(15) });
    const again = await connect(server, { ...fixed, node_build_id: '300', node_index: 1 });
    expect(sortPaths(pathsIn(again))).toEqual(sortPaths(newest.ran[1]!));
  });

  it('does not take a subset that an earlier queue recorded for one of this queue', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    await firstRun(server);
    await record(server);
    clock.advance({ seconds: 60 });
    await firstRun(server, { more: { node_build_id: '200' } });
    expect((await connect(server, { ...fixed, node_build_id: '300' })).json).toMatchObject({
      queue_name: expect.any(String),
      build_subset_id: null,
    });
  });

  it('is a dynamic queue while nothing is known', async () => {
    const server = await shared.project();
    expect((await connect(server, fixed)).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    const first = await initialise(server, paths, fixed);
    const other = await connect(server, { ...fixed, node_index: 1 });
    expect(other.json).toMatchObject({ queue_name: first.json.queue_name, build_subset_id: null });
    const rest = [await pullAll(server, fixed), await pullAll(server, { ...fixed, node_index: 1 })];
    expect(sortPaths([...pathsIn(first), ...pathsIn(other), ...rest.flat()])).toEqual(paths);
  });

  it('is not repeated for another triple, nor for a build that does not ask for it', async () => {
    const server = await shared.project();
    await firstRun(server);
    for (const other of [{ ...fixed, commit_hash: 'next' }, { ...fixed, node_total: 3 }, { node_build_id: '200' }]) {
      expect((await connect(server, other)).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    }
  });

  it('is kept over a restart', async () => {
    const server = await startServerOnDisk();
    const { ran } = await firstRun(server);
    await server.close();
    const again = await startServer({ dataDir: server.dataDir });
    for (const node_index of [0, 1]) {
      const reply = await connect(again, { ...fixed, node_build_id: '200', node_index });
      expect(sortPaths(pathsIn(reply))).toEqual(sortPaths(ran[node_index]!));
    }
  });

  it.each([
    ['dynamic', {}],
    ['fixed as well', fixed],
  ])('takes nothing from a build of the same triple that is still pulling, which is %s', async (_, more) => {
    const server = await shared.project();
    const first = { ...more, node_build_id: '100' };
    const second = { ...fixed, node_build_id: '200' };
    const ofFirst = [await initialise(server, paths, first), await connect(server, { ...first, node_index: 1 })];
    const ofSecond = [await connect(server, second), await connect(server, { ...second, node_index: 1 })];
    const nodes = [first, second].flatMap(build => [0, 1].map(node_index => ({ ...build, node_index })));
    const rest = await Promise.all(nodes.map(node => pullAll(server, node)));
    expect(sortPaths([...ofFirst.flatMap(pathsIn), ...rest.slice(0, 2).flat()])).toEqual(paths);
    expect(sortPaths([...ofSecond.flatMap(pathsIn), ...rest.slice(2).flat()])).toEqual(paths);
  });

  it('loses no file in a build of which only some nodes ask for it, in whatever order they start', async () => {
    const server = await shared.project();
    for (const fixedFirst of [true, false]) {
      const commit_hash = `mixed-${fixedFirst}`;
      await firstRun(server, { more: { commit_hash } });
      const build = { commit_hash, node_build_id: '200' };
      const nodes = [
        { ...build, ...fixed },
        { ...build, node_index: 1 },
      ];
      if (!fixedFirst) nodes.reverse();
      const ran: string[] = [];
      for (const node of nodes) {
        ran.push(...pathsIn(await initialise(server, paths, node)), ...(await pullAll(server, node)));
      }
      expect(new Set(ran)).toEqual(new Set(paths));
    }
  });
});
