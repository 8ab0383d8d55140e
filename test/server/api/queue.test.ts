import { describe, expect } from 'vitest';
import { connect, initialise, manyPaths, pathsIn, pull, pullAll, record, sortPaths, timedTestFiles } from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const it = testsWith(new SharedServer());

describe('POST /queues/queue', () => {
  it('asks the first node for the list, and hands it batches until the queue is empty', async ({ server }) => {
    const failed = await connect(server);
    expect(failed.status).toBe(200);
    expect(failed.json).toEqual({
      queue_name: expect.stringMatching(/./),
      message: 'There is no queue for this build yet: send the test files to initialise it.',
      code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED',
    });
    const { queue_name } = failed.json;
    const paths = manyPaths(12);
    const first = await initialise(server, paths);
    expect(first.status).toBe(200);
    expect(first.json).toEqual({ queue_name, build_subset_id: null, test_files: expect.any(Array) });
    expect(first.json.test_files[0]).toEqual({ path: expect.any(String), time_execution: null });
    const second = await pull(server);
    expect(second.json).toEqual({ queue_name, build_subset_id: null, test_files: expect.any(Array) });
    const rest = await pullAll(server);
    expect(sortPaths([...pathsIn(first), ...pathsIn(second), ...rest])).toEqual(paths);
    for (let i = 0; i < 2; i++) expect((await pull(server)).json).toEqual({ queue_name, build_subset_id: null, test_files: [] });
  });

  it('remembers an empty queue, so that no node starts a second one for the same CI run', async ({ server }) => {
    const { queue_name } = (await initialise(server, ['a_spec.rb', 'b_spec.rb'])).json;
    await pullAll(server);
    const end = { queue_name, build_subset_id: null, test_files: [] };
    expect((await connect(server, { node_index: 1 })).json).toEqual(end);
    expect((await initialise(server, ['a_spec.rb', 'b_spec.rb'], { node_index: 1 })).json).toEqual(end);
    expect((await pull(server, { node_index: 1 })).json).toEqual(end);
  });

  it('refuses a pull from an unknown queue, because an empty batch would mean the end', async ({ server }) => {
    const reply = await pull(server);
    expect(reply.status).toBe(422);
    expect(reply.json.errors).toEqual([{ node_build_id: [expect.stringMatching(/^names no queue .* run this node again$/)] }]);
    expect((await connect(server)).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
  });

  it.for([{ node_build_id: '200' }, { commit_hash: 'next' }, { branch: 'next' }, { node_total: 3 }])(
    'has another queue for %o',
    async (other, { server }) => {
      const { queue_name } = (await initialise(server, ['a_spec.rb', 'b_spec.rb'])).json;
      const failed = await connect(server, other);
      expect(failed.json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
      expect(failed.json.queue_name).not.toBe(queue_name);
      const first = await initialise(server, ['c_spec.rb'], other);
      expect(first.json.queue_name).toBe(failed.json.queue_name);
      expect(pathsIn(first)).toEqual(['c_spec.rb']);
      expect(pathsIn(await pull(server, other))).toEqual([]);
    },
  );

  it('has recorded times, and hands out the slowest file first', async ({ server }) => {
    await record(server, { test_files: timedTestFiles({ 'a_spec.rb': 1, 'b_spec.rb': 30, 'c_spec.rb': 4 }) });
    const { test_files } = (await initialise(server, ['a_spec.rb', 'b_spec.rb', 'c_spec.rb'])).json;
    expect(test_files[0]).toEqual({ path: 'b_spec.rb', time_execution: 30 });
  });

  it('ignores attempt_connect_to_queue unless the node may initialise', async ({ server }) => {
    const paths = manyPaths(30);
    const first = await initialise(server, paths);
    const second = await pull(server, { attempt_connect_to_queue: true });
    expect(pathsIn(second)).not.toEqual([]);
    expect(sortPaths([...pathsIn(first), ...pathsIn(second), ...(await pullAll(server))])).toEqual(paths);
    expect((await pull(server, { attempt_connect_to_queue: true, node_build_id: 'other' })).status).toBe(422);
  });

  it('serves an old client, which does not send attempt_connect_to_queue', async ({ server }) => {
    const paths = manyPaths(10);
    const old = { attempt_connect_to_queue: undefined, node_total: 1 };
    const first = await initialise(server, paths, old);
    expect(sortPaths([...pathsIn(first), ...(await pullAll(server, { node_total: 1 }))])).toEqual(paths);
  });
});

describe('skip_pull', () => {
  it('fails to connect if there is no queue, creates it and pulls nothing', async ({ server }) => {
    const { queue_name, code } = (await connect(server, { skip_pull: true })).json;
    expect(code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    const created = await initialise(server, ['a_spec.rb', 'b_spec.rb', 'c_spec.rb'], { skip_pull: true });
    expect(created.status).toBe(200);
    expect(created.json).toMatchObject({ queue_name, test_files: [] });
    expect(sortPaths(await pullAll(server))).toEqual(['a_spec.rb', 'b_spec.rb', 'c_spec.rb']);
  });

  it('connects to a queue, has its URL and pulls nothing', async ({ server }) => {
    const paths = manyPaths(20);
    const first = await initialise(server, paths);
    for (const reply of [
      await connect(server, { skip_pull: true, node_index: 1 }),
      await initialise(server, paths, { skip_pull: 'true', node_index: 1 }),
    ]) {
      expect(reply.json).toMatchObject({ queue_name: first.json.queue_name, test_files: [] });
      const { origin, pathname } = new URL(reply.json.url);
      expect(origin + pathname).toMatch(server.url);
    }
    expect(sortPaths([...pathsIn(first), ...(await pullAll(server))])).toEqual(paths);
  });
});
