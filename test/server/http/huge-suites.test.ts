import { describe, expect, it } from 'vitest';
import { httpServers } from '../../harness/http-server.js';
import { initialise, manyPaths, pathsIn, pullAll, readSplit, sortPaths, startSplit } from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const paths = manyPaths(100_000);

describe.each(httpServers)('with %s, a suite of 100,000 files', httpServer => {
  const it = testsWith(new SharedServer({ httpServer }));

  it('is split into parts with each file once, while small requests are answered', async ({ server }) => {
    const first = startSplit(server, paths, { node_total: 3 });
    expect((await readSplit(server, { branch: 'small' })).status).toBe(200);
    const nodes = [await first];
    for (const node_index of [1, 2]) nodes.push(await readSplit(server, { node_total: 3, node_index }));
    const answered = nodes.flatMap(pathsIn);
    expect(answered).toHaveLength(100_000);
    expect(new Set(answered).size).toBe(100_000);
  });

  it('is queued with each file once', async ({ server }) => {
    const first = await initialise(server, paths);
    expect(sortPaths([...pathsIn(first), ...(await pullAll(server))])).toEqual(paths);
  });
});

describe('a huge suite', () => {
  const server = new SharedServer();

  it('with a path that is too short gets an error with its position', async () => {
    const reply = await startSplit(server, [...paths, 'ab']);
    expect(reply.status).toBe(422);
    expect(reply.json).toEqual({
      errors: [{ test_files: [{ 100000: { path: ['is too short (minimum is 3 characters)'] } }] }],
    });
  });

  it('is refused with 200,001 files', async () => {
    const reply = await initialise(server, manyPaths(200_001));
    expect(reply.status).toBe(422);
    expect(reply.json).toEqual({ errors: [{ test_files: ['is too long (maximum is 200000 entries)'] }] });
  });
});
