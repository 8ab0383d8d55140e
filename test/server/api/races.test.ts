import { describe, expect } from 'vitest';
import type { Reply } from '../../harness/client.js';
import { connect, initialise, manyPaths, pathsIn, pull, readSplit, sortPaths, startSplit } from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const it = testsWith(new SharedServer());

const NODES = 16;
const indices = Array.from({ length: NODES }, (_, index) => index);
const key = { commit_hash: 'abc', branch: 'main', node_total: NODES };

/** The list of a node. Each node has one file that the others lack. */
const listOf = (count: number, node: number) => [...manyPaths(count), `spec/only_on_node_${node}_spec.rb`];

/** The paths of all nodes, sorted. */
const sortedPaths = (replies: readonly Reply[]) => sortPaths(replies.flatMap(pathsIn)).join();
const sortedLists = (count: number) => indices.map(node => sortPaths(listOf(count, node)).join());

describe.each([
  ['a small suite', 100],
  ['a large suite', 1200],
])('16 nodes that initialise %s at the same time', (_, count) => {
  it('get one split, which has the list of one of them', async ({ server }) => {
    const read = (ci_build_id: string) => Promise.all(indices.map(node_index => readSplit(server, { ...key, node_index, ci_build_id })));
    expect((await read('1')).map(({ json }) => json as unknown)).toEqual(Array(NODES).fill({ code: 'TEST_SUITE_SPLIT_CACHE_MISS' }));

    const splits = await Promise.all(indices.map(node_index => startSplit(server, listOf(count, node_index), { ...key, node_index })));
    expect(new Set(splits.map(({ json }) => json.build_distribution_id as string)).size).toBe(1);
    expect(splits.map(({ json }) => json.node_index as number)).toEqual(indices);
    expect(sortedLists(count)).toContain(sortedPaths(splits));
    expect((await read('2')).map(({ text }) => text)).toEqual(splits.map(({ text }) => text));
  });

  it('get one queue, which has the list of one of them and hands out each file once', async ({ server }) => {
    const build = (node_index: number) => ({ ...key, node_index, batch_uuid: `first-${node_index}` });
    const failed = await Promise.all(indices.map(node => connect(server, build(node))));
    expect(new Set(failed.map(({ json }) => json.code as string))).toEqual(new Set(['ATTEMPT_CONNECT_TO_QUEUE_FAILED']));

    const first = await Promise.all(indices.map(node => initialise(server, listOf(count, node), build(node))));
    const rest = await Promise.all(
      indices.map(async node_index => {
        const replies = [];
        for (let pulls = 0; pulls < 2 * count; pulls++) {
          const reply = await pull(server, { ...key, node_index, batch_uuid: `${node_index}-${pulls}` });
          if (reply.json.test_files.length === 0) break;
          replies.push(reply);
        }
        return replies;
      }),
    );
    const replies = [...first, ...rest.flat()];
    expect(new Set(replies.map(({ json }) => json.queue_name as string)).size).toBe(1);
    expect(sortedLists(count)).toContain(sortedPaths(replies));
  });
});
