import { describe, expect, it } from 'vitest';
import { closeParts, openParts, type Parts } from '../../src/server/store/lmdb/parts.js';
import { initialise, manyPaths, pull, record } from '../harness/messages.js';
import { ended, printed, runBallast } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer, startServerOnDisk, type TestServer } from '../harness/server.js';

async function usedServer(): Promise<TestServer> {
  const server = await startServerOnDisk();
  await record(server);
  await initialise(server, manyPaths(70));
  await pull(server);
  return server;
}

async function wound(dataDir: string, change: (store: Parts) => Promise<unknown>): Promise<void> {
  const store = openParts(dataDir);
  await change(store);
  await closeParts(store);
}

/** Checks in the process of the test, where no server may have the folder open. */
const check = (dataDir: string, ...flags: string[]) => runInProcess(['check', ...flags, '--data-dir', dataDir]);
const checkBesideServer = (dataDir: string, ...flags: string[]) => runBallast(['check', ...flags, '--data-dir', dataDir]);

describe('ballast check', () => {
  it('finds the store of a running server sound', async () => {
    const { dataDir, close } = await usedServer();
    const sound = /^sound; checked 1 projects, 1 tokens, 1 builds, 1 subsets, /;
    expect(await checkBesideServer(dataDir)).toEqual(printed(expect.stringMatching(sound)));
    await close();
    const json = await check(dataDir, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ sound: true, records: { queues: 1, subsets: 1 }, found: [], left: [] });
  });

  it('names problems and remedies, and exits with 1', async () => {
    const server = await usedServer();
    await server.close();
    await wound(server.dataDir, async store => {
      for (const key of [...store.expiry.getKeys()]) await store.expiry.remove(key);
      const [id] = [...store.queues.getKeys()] as [string];
      await store.blobs.remove([id, 0]);
    });
    const { code, stdout } = await check(server.dataDir);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^builds 1 would never expire \(project "default"\)$/m);
    expect(stdout).toMatch(/^ciRuns \[1,\d+,"[0-9a-f-]{36}"\] would never expire \(project "default"\)$/m);
    expect(stdout).toMatch(/^queues "[0-9a-f-]{36}" has files that cannot be read: .* \(project "default"\)$/m);
    expect(stdout).toMatch(
      /^5 problems; 3 can be repaired: stop the server and run this with --repair; 2 cannot: restore a backup, or wait until the named records expire; checked /m,
    );
    expect(JSON.parse((await check(server.dataDir, '--json')).stdout)).toMatchObject({
      sound: false,
      found: expect.arrayContaining([
        { table: 'builds', key: 1, project: 'default', what: 'would never expire', repairable: true },
      ]) as unknown[],
    });
  });

  it('repairs records that can be derived from others, only while no server runs', async () => {
    const server = await usedServer();
    expect(await checkBesideServer(server.dataDir, '--repair')).toEqual(ended(1, 'another Ballast serves this folder', ''));
    await server.close();
    await wound(server.dataDir, store => store.buildIndex.clearAsync());
    const repaired = await check(server.dataDir, '--repair');
    expect(repaired.code).toBe(0);
    expect(repaired.stdout).toMatch(/^buildIndex \[".*",1\] does not lead to build 1 \(project "default"\)$/m);
    expect(repaired.stdout).toMatch(/^16 problems, all repaired; checked /m);
    expect((await check(server.dataDir)).code).toBe(0);
    const again = await startServer({ dataDir: server.dataDir });
    expect((await again.get('/v1/builds')).json.data).toHaveLength(1);
  });
});
