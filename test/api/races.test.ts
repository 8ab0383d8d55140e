import { describe, expect, it } from 'vitest';
import type { Reply } from '../harness/client.js';
import { manyPaths, pathsIn, sortPaths, testFiles } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';

const shared = new SharedServer();

const NODES = 16;
const indices = Array.from({ length: NODES }, (_, index) => index);
const key = { commit_hash: 'abc', branch: 'main', node_total: NODES };

/** The list of a node. Each node has one file that the others lack. */
const listOf = (count: number, node: number) => testFiles([...manyPaths(count), `spec/only_on_node_${node}_spec.rb`]);

/** The paths of all nodes, sorted. */
const sortedPaths = (replies: readonly Reply[]) => sortPaths(replies.flatMap(pathsIn)).join();
const sortedLists = (count: number) => indices.map(node => sortPaths(listOf(count, node).map(({ path }) => path)).join());

describe.each([
  ['a small suite', 100],
  ['a large suite', 1200],
])('16 nodes that initialise %s at the same time', (_, count) => {
  it('get one split, which has the list of one of them', async () => {
    const server = await shared.project();
    const split = (node_index: number, more: object) =>
      server.post('/v1/build_distributions/subset', { ...key, node_index, ci_build_id: 1, ...more });
    const misses = await Promise.all(indices.map(node => split(node, { cache_read_attempt: true })));
    expect(misses.map(({ json }) => json as unknown)).toEqual(Array(NODES).fill({ code: 'TEST_SUITE_SPLIT_CACHE_MISS' }));

    const splits = await Promise.all(indices.map(node => split(node, { cache_read_attempt: false, test_files: listOf(count, node) })));
    expect(new Set(splits.map(({ json }) => json.build_distribution_id as string)).size).toBe(1);
    expect(splits.map(({ json }) => json.node_index as number)).toEqual(indices);
    expect(sortedLists(count)).toContain(sortedPaths(splits));

    const read = await Promise.all(indices.map(node => split(node, { cache_read_attempt: true, ci_build_id: 2 })));
    expect(read.map(({ text }) => text)).toEqual(splits.map(({ text }) => text));
  });

  it('get one queue, which has the list of one of them and hands out each file once', async () => {
    const server = await shared.project();
    const pull = (node_index: number, batch_uuid: string, more: object) =>
      server.post('/v1/queues/queue', { ...key, node_index, node_build_id: 1, batch_uuid, ...more });
    const start = { can_initialize_queue: true, attempt_connect_to_queue: true };
    const failed = await Promise.all(indices.map(node => pull(node, `first-${node}`, start)));
    expect(new Set(failed.map(({ json }) => json.code as string))).toEqual(new Set(['ATTEMPT_CONNECT_TO_QUEUE_FAILED']));

    const initialise = { ...start, attempt_connect_to_queue: false };
    const first = await Promise.all(indices.map(node => pull(node, `first-${node}`, { ...initialise, test_files: listOf(count, node) })));
    const next = { can_initialize_queue: false, attempt_connect_to_queue: false };
    const rest = await Promise.all(
      indices.map(async node => {
        const replies = [];
        for (let pulls = 0; pulls < 2 * count; pulls++) {
          const reply = await pull(node, `${node}-${pulls}`, next);
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
