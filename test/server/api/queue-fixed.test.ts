import { describe, expect } from 'vitest';
import type { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { connect, type Fields, initialise, manyPaths, pathsIn, pull, pullAll, record, sortPaths } from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const clock = new Clock();
const it = testsWith(new SharedServer({}, { now: clock.now }));

const paths = manyPaths(40);
const fixed = { fixed_queue_split: true };

/** Runs a dynamic queue over two nodes, which pull in turn until it is empty. Returns its name and what each node was handed. */
async function firstRun(
  server: Client,
  { more = {}, files = paths }: { more?: Fields; files?: string[] } = {},
): Promise<{ queue_name: string; handed: string[][] }> {
  const replies = [[await initialise(server, files, more)], [await connect(server, { node_index: 1, ...more })]];
  for (let ended = 0; ended < 2; ) {
    ended = 0;
    for (const [node_index, node] of replies.entries()) {
      const reply = await pull(server, { node_index, ...more });
      if (pathsIn(reply).length === 0) ended += 1;
      else node.push(reply);
    }
  }
  const handed = replies.map(node => node.flatMap(pathsIn));
  expect(sortPaths(handed.flat())).toEqual(sortPaths(files));
  expect(replies.every(node => node.length > 1)).toBe(true);
  return { queue_name: replies[0]![0]!.json.queue_name, handed };
}

/** The id of the newest recorded run of a node. */
async function newestSubset(server: Client, node_index: number): Promise<string> {
  const [build] = (await server.get('/v1/builds')).json.data;
  const { build_subsets } = (await server.get(`/v1/builds/${build.id}`)).json;
  return build_subsets.find((subset: any) => subset.node_index === node_index).id;
}

describe('fixed_queue_split', () => {
  it('gives a retried node all its files in one batch, and then the end', async ({ server }) => {
    const { queue_name, handed } = await firstRun(server);
    for (const node_index of [0, 1]) {
      const again = await connect(server, { ...fixed, node_index });
      expect(again.json).toEqual({ queue_name, build_subset_id: null, test_files: expect.any(Array) });
      expect(sortPaths(pathsIn(again))).toEqual(sortPaths(handed[node_index]!));
      expect((await pull(server, { ...fixed, node_index })).json).toMatchObject({ test_files: [] });
    }
  });

  it('names the newest recorded subset of the node instead of the queue', async ({ server }) => {
    const { handed } = await firstRun(server);
    for (let i = 0; i < 2; i++) {
      clock.advance({ seconds: 60 });
      const test_files = handed[1]!.map(path => ({ path, time_execution: i + 1 }));
      await record(server, { node_index: 1, test_files });
    }
    const again = await connect(server, { ...fixed, node_index: 1 });
    expect(again.json).toMatchObject({ queue_name: null, build_subset_id: await newestSubset(server, 1) });
    expect(sortPaths(pathsIn(again))).toEqual(sortPaths(handed[1]!));
    // The other node died before it recorded anything.
    expect((await connect(server, { ...fixed, node_index: 0 })).json).toMatchObject({
      queue_name: expect.any(String),
      build_subset_id: null,
    });
  });

  it('repeats the split in each later CI run of the build, also for a node that sends another list', async ({ server }) => {
    const { queue_name, handed } = await firstRun(server);
    for (const node_build_id of ['200', '300', '200']) {
      for (const node_index of [1, 0]) {
        const again = await connect(server, { ...fixed, node_build_id, node_index });
        expect(sortPaths(pathsIn(again))).toEqual(sortPaths(handed[node_index]!));
        expect(await pullAll(server, { ...fixed, node_build_id, node_index })).toEqual([]);
      }
    }
    const again = await initialise(server, ['new_spec.rb'], { ...fixed, node_build_id: '400' });
    expect(again.json.queue_name).toBe(queue_name);
    expect(sortPaths(pathsIn(again))).toEqual(sortPaths(handed[0]!));
  });

  it('ignores a subset that was recorded for an earlier queue', async ({ server }) => {
    await firstRun(server);
    await record(server);
    clock.advance({ seconds: 60 });
    await firstRun(server, { more: { node_build_id: '200' } });
    expect((await connect(server, { ...fixed, node_build_id: '300' })).json).toMatchObject({
      queue_name: expect.any(String),
      build_subset_id: null,
    });
  });

  it('starts a dynamic queue if there is none to repeat', async ({ server }) => {
    expect((await connect(server, fixed)).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    const first = await initialise(server, paths, fixed);
    const other = await connect(server, { ...fixed, node_index: 1 });
    expect(other.json).toMatchObject({ queue_name: first.json.queue_name, build_subset_id: null });
    const rest = [await pullAll(server, fixed), await pullAll(server, { ...fixed, node_index: 1 })];
    expect(sortPaths([...pathsIn(first), ...pathsIn(other), ...rest.flat()])).toEqual(paths);
  });

  it('does not repeat a queue for another build, or for a CI run without the option', async ({ server }) => {
    await firstRun(server);
    for (const other of [{ ...fixed, commit_hash: 'next' }, { ...fixed, node_total: 3 }, { node_build_id: '200' }]) {
      expect((await connect(server, other)).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    }
  });

  it('loses no file when only some nodes have the option, in any order of starts', async ({ server }) => {
    for (const fixedFirst of [true, false]) {
      const commit_hash = `mixed-${fixedFirst}`;
      await firstRun(server, { more: { commit_hash } });
      const build = { commit_hash, node_build_id: '200' };
      const nodes = [
        { ...build, ...fixed },
        { ...build, node_index: 1 },
      ];
      if (!fixedFirst) nodes.reverse();
      const handed: string[] = [];
      for (const node of nodes) {
        handed.push(...pathsIn(await initialise(server, paths, node)), ...(await pullAll(server, node)));
      }
      expect(new Set(handed)).toEqual(new Set(paths));
    }
  });
});
