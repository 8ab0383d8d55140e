import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limits } from '../../../../src/protocol/limits.js';
import { DiskSpaceGuard } from '../../../../src/server/store/lmdb/writes/failure.js';
import { initialise, manyPaths, pathsIn, pull, readSplit, record, startSplit, timedTestFiles } from '../../../harness/messages.js';
import { startServerOnDisk } from '../../../harness/server.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';

const FULL = {
  status: 503,
  json: { errors: ['the store cannot be written (is the disk of BALLAST_DATA_DIR full?); try again'] },
};

describe('the disk space guard', () => {
  it('asks the system for the free space at intervals', () => {
    const guard = new DiskSpaceGuard(temporaryFolder());
    expect(guard.freeBytes()).toBeGreaterThan(limits.diskReserveBytes);
    const free = vi.spyOn(guard, 'freeBytes');
    for (let i = 0; i < 1000; i++) guard.assert();
    expect(free.mock.calls.length).toBeLessThan(100);
  });

  it('refuses writes with the space that is left', () => {
    const guard = new DiskSpaceGuard('/data');
    vi.spyOn(guard, 'freeBytes').mockReturnValue(8_388_607);
    expect(() => guard.assert()).toThrow(
      expect.objectContaining({
        reason: 'disk',
        cause: new Error('the disk of /data has 8388607 bytes left, and 8388608 are kept in reserve'),
      }) as Error,
    );
  });
});

describe('a server whose disk is full', () => {
  it('refuses writes and answers other requests, until there is space again', async () => {
    let free = Infinity;
    const checks = vi.spyOn(DiskSpaceGuard.prototype, 'freeBytes').mockImplementation(() => free);
    onTestFinished(() => checks.mockRestore());
    const nextCheck = async () => {
      const before = checks.mock.calls.length;
      await vi.waitFor(
        async () => {
          await server.get('/readyz');
          expect(checks.mock.calls.length).toBeGreaterThan(before);
        },
        { timeout: 10_000, interval: 5 },
      );
    };
    const server = await startServerOnDisk();
    const queue = { commit_hash: 'queued', node_total: 2, node_build_id: '1' };
    const paths = manyPaths(60);
    const first = await initialise(server, paths, { ...queue, batch_uuid: 'first' });
    const split = await startSplit(server, paths);
    await record(server);

    free = 1_000_000;
    await nextCheck();
    const recording = { commit_hash: 'later', test_files: timedTestFiles({ 'b_spec.rb': 1 }) };
    expect(await server.post('/v1/build_subsets', { branch: 'main', node_total: 1, node_index: 0, ...recording })).toMatchObject(FULL);
    expect(await pull(server, { ...queue, node_index: 1 })).toMatchObject(FULL);
    expect(await initialise(server, paths, { ...queue, commit_hash: 'new' })).toMatchObject(FULL);
    expect(await startSplit(server, paths, { commit_hash: 'new' })).toMatchObject(FULL);
    expect((await server.get('/readyz')).status).toBe(503);
    expect((await server.get('/healthz')).status).toBe(200);
    expect((await server.get('/v1/builds')).json.data).toHaveLength(1);
    expect(await readSplit(server)).toMatchObject({ status: 200, text: split.text });
    expect(await pull(server, { ...queue, batch_uuid: 'first' })).toMatchObject({ status: 200, text: first.text });

    free = Infinity;
    // The outcome of a refused probe counts for a second.
    await vi.waitFor(async () => expect((await server.get('/readyz')).status).toBe(200), { timeout: 10_000, interval: 5 });
    await record(server, recording);
    const batches = [pathsIn(first)];
    for (let node_index = 1; batches.at(-1)!.length > 0; node_index = 1 - node_index)
      batches.push(pathsIn(await pull(server, { ...queue, node_index })));
    expect(batches.flat().sort()).toEqual(paths);
  });
});
