import { describe, expect, vi } from 'vitest';
import { connect, initialise, manyPaths, pathsIn, pull, pullAll, queueMessage, sortPaths, testFiles } from '../../harness/messages.js';
import { SharedServer, startServer, startServerOnDisk, type TestServer, testsWith } from '../../harness/server.js';
import { postRequest, RawConnection } from '../http/raw-connection.js';

const it = testsWith(new SharedServer());

const paths = manyPaths(40);

describe('batch_uuid', () => {
  it('gives its node the same answer again, byte for byte, but never a failure to connect', async ({ server }) => {
    expect((await connect(server, { batch_uuid: 'u1' })).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    const first = await initialise(server, paths, { batch_uuid: 'u1' });
    expect(pathsIn(first)).not.toEqual([]);
    expect((await initialise(server, paths, { batch_uuid: 'u1' })).text).toBe(first.text);
    expect((await connect(server, { batch_uuid: 'u1' })).text).toBe(first.text);
    const second = await pull(server, { batch_uuid: 'u2' });
    expect(pathsIn(second)).not.toEqual(pathsIn(first));
    expect((await pull(server, { batch_uuid: 'u2' })).text).toBe(second.text);
    expect((await pull(server, { batch_uuid: 'u1' })).text).toBe(first.text);
    const rest = await pullAll(server);
    expect(sortPaths([...pathsIn(first), ...pathsIn(second), ...rest])).toEqual(paths);
    expect((await pull(server, { batch_uuid: 'u2' })).text).toBe(second.text);
  });
});

describe('X-Retry-Count', () => {
  it('above 0 repeats the last batch for a client without uuids', async ({ server }) => {
    const first = await initialise(server, paths);
    const second = await pull(server, {}, { 'X-Retry-Count': '0' });
    expect(pathsIn(second)).not.toEqual(pathsIn(first));
    for (const count of ['1', '2']) {
      expect((await pull(server, {}, { 'X-Retry-Count': count })).text).toBe(second.text);
    }
    const rest = await pullAll(server);
    expect(sortPaths([...pathsIn(first), ...pathsIn(second), ...rest])).toEqual(paths);
  });

  it('above 0 hands out a first batch if the first request was lost, and no files of another node', async () => {
    const server = await startServer();
    const first = await initialise(server, paths);
    const other = await connect(server, { node_index: 1 }, { 'X-Retry-Count': '1' });
    expect(pathsIn(other)).not.toEqual([]);
    expect(pathsIn(first).filter(path => pathsIn(other).includes(path))).toEqual([]);
  });
});

// A busy machine may write the answer before it sees that the node has left.
describe('a node that leaves before its answer was written', { retry: 2 }, () => {
  /** Sends a message and closes the connection. Resolves when the server has noticed. */
  async function sendAndLeave(server: TestServer, message: object): Promise<void> {
    const connection = await RawConnection.open(server.url);
    connection.send(postRequest('/v1/queues/queue', server.token, JSON.stringify(message)));
    connection.leave();
    await vi.waitFor(() => expect(server.log.join('')).toContain('"msg":"client left"'), { timeout: 10_000, interval: 5 });
  }

  it('loses its batch to the next pull', async () => {
    const server = await startServerOnDisk();
    // A queue whose node does not leave shows which batch would come second.
    await initialise(server, paths, { node_build_id: 'twin' });
    const expected = await connect(server, { node_build_id: 'twin', node_index: 1 });

    const first = await initialise(server, paths);
    await sendAndLeave(server, queueMessage({ node_index: 1 }));
    const next = await pull(server);
    const least = Math.min(pathsIn(next).length, pathsIn(expected).length);
    expect(pathsIn(next).slice(0, least)).toEqual(pathsIn(expected).slice(0, least));
    const rest = await pullAll(server);
    expect(sortPaths([...pathsIn(first), ...pathsIn(next), ...rest])).toEqual(paths);
  });

  it.each([
    ['small', 40],
    ['large', 3000],
  ])('while it initialises a %s suite leaves the queue to other nodes', async (_, count) => {
    const server = await startServerOnDisk();
    const all = manyPaths(count);
    await sendAndLeave(server, queueMessage({ attempt_connect_to_queue: false, test_files: testFiles(all) }));
    const other = await initialise(server, all, { node_index: 1 });
    expect(pathsIn(other)[0]).toBe(all[0]);
    expect(sortPaths([...pathsIn(other), ...(await pullAll(server, { node_index: 1 }))])).toEqual(all);
  });
});
