import { describe, expect, it } from 'vitest';
import { SharedServer } from '../harness/server.js';

const shared = new SharedServer();

const NODES = 16;
const indices = Array.from({ length: NODES }, (_, index) => index);
const key = { commit_hash: 'abc', branch: 'main', node_total: NODES };

/** Every node finds one file more than the others on its disk. */
const listOf = (count: number, node: number) => [
  ...Array.from({ length: count }, (_, i) => ({ path: `spec/${i}_spec.rb` })),
  { path: `spec/only_on_node_${node}_spec.rb` },
];

const pathsOf = (replies: readonly { json: any }[]) =>
  replies.flatMap(({ json }) => (json.test_files as { path: string }[]).map(({ path }) => path)).sort();

/** The lists of all nodes, as sorted texts. */
const lists = (count: number) =>
  indices.map(node =>
    listOf(count, node)
      .map(({ path }) => path)
      .sort()
      .join(),
  );

describe.each([
  ['a suite that is split at once', 100],
  ['a suite so large that a thread splits it', 1200],
])('16 nodes that initialise at the same time %s', (_, count) => {
  it('get one split, made from the list of one of them', async () => {
    const server = await shared.project();
    const split = (node_index: number, given: object) =>
      server.post('/v1/build_distributions/subset', { ...key, node_index, ci_build_id: 1, ...given });
    const misses = await Promise.all(indices.map(node => split(node, { cache_read_attempt: true })));
    expect(misses.map(({ json }) => json as unknown)).toEqual(Array(NODES).fill({ code: 'TEST_SUITE_SPLIT_CACHE_MISS' }));

    const splits = await Promise.all(indices.map(node => split(node, { cache_read_attempt: false, test_files: listOf(count, node) })));
    expect(new Set(splits.map(({ json }) => json.build_distribution_id as string)).size).toBe(1);
    expect(splits.map(({ json }) => json.node_index as number)).toEqual(indices);
    expect(lists(count)).toContain(pathsOf(splits).join());

    const read = await Promise.all(indices.map(node => split(node, { cache_read_attempt: true, ci_build_id: 2 })));
    expect(read.map(({ text }) => text)).toEqual(splits.map(({ text }) => text));
  });

  it('get one queue, made from the list of one of them, and each file once', async () => {
    const server = await shared.project();
    const pull = (node_index: number, batch_uuid: string, given: object) =>
      server.post('/v1/queues/queue', { ...key, node_index, node_build_id: 1, batch_uuid, ...given });
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
    expect(lists(count)).toContain(pathsOf(replies).join());
  });
});

describe('16 nodes that record at the same time', () => {
  it('make one build with 16 runs', async () => {
    const server = await shared.project();
    const test_files = [{ path: 'spec/a_spec.rb', time_execution: 1.5 }];
    const replies = await Promise.all(indices.map(node_index => server.post('/v1/build_subsets', { ...key, node_index, test_files })));
    expect(replies.map(({ status, text }) => [status, text])).toEqual(Array(NODES).fill([201, '']));
    const { data } = (await server.get('/v1/builds')).json;
    expect(data.length).toBe(1);
    const { build_subsets } = (await server.get(`/v1/builds/${data[0].id}`)).json;
    expect(build_subsets.map((subset: any) => subset.node_index as number).sort((a: number, b: number) => a - b)).toEqual(indices);
  });
});
