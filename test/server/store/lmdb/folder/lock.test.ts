import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireLock } from '../../../../../src/base/locks.js';
import { lockFolder } from '../../../../../src/server/store/lmdb/folder/open-lock.js';
import { startServer, startServerOnDisk } from '../../../../harness/server.js';
import { temporaryFolder } from '../../../../harness/temporary-folder.js';

const STARTERS = 8;
const ROUNDS = 200;

/** In memory that all share: the phase that is on, how many are done with it, how many got the lock, how many failed otherwise. */
const [PHASE, DONE, WON, FAILED] = [0, 1, 2, 3];

/** In each odd phase tries to take the folder at the same time as the others; lets go of it in the next one. */
const starter = `
  const { parentPort, workerData: { lockModule, dataDir, shared, phases } } = require('node:worker_threads');
  import(lockModule).then(({ lockFolder }) => {
    parentPort.postMessage('here');
    for (let lock = null, phase = 1; phase <= phases; phase++) {
      for (let now; (now = Atomics.load(shared, ${PHASE})) < phase; ) Atomics.wait(shared, ${PHASE}, now);
      lock?.release();
      lock = null;
      try {
        if (phase % 2) lock = lockFolder(dataDir);
      } catch (error) {
        if (!error.message.includes('another Ballast')) Atomics.add(shared, ${FAILED}, 1);
      }
      if (lock) Atomics.add(shared, ${WON}, 1);
      Atomics.add(shared, ${DONE}, 1);
      Atomics.notify(shared, ${DONE});
    }
  });`;

describe('a folder', () => {
  it('has one server at a time, and the error names it', async () => {
    const { dataDir, close } = await startServerOnDisk();
    await expect(startServer({ dataDir })).rejects.toThrow(
      `cannot take ${dataDir}: another Ballast serves this folder (process ${process.pid} on ${hostname()}); stop it, or choose another with BALLAST_DATA_DIR`,
    );
    await close();
    expect((await (await startServer({ dataDir })).send('/readyz', {})).status).toBe(200);
  });

  it('is locked by one of many servers that start concurrently', { timeout: 60_000 }, async () => {
    const dataDir = temporaryFolder();
    // As a killed server leaves it.
    writeFileSync(join(dataDir, 'serve.lock'), '4711 elsewhere\n');
    const shared = new Int32Array(new SharedArrayBuffer(16));
    const lockModule = new URL('../../../../../src/server/store/lmdb/folder/open-lock.js', import.meta.url).href;
    const starters = Array.from(
      { length: STARTERS },
      () => new Worker(starter, { eval: true, workerData: { lockModule, dataDir, shared, phases: 2 * ROUNDS } }),
    );
    onTestFinished(async () => void (await Promise.all(starters.map(one => one.terminate()))));
    await Promise.all(starters.map(one => once(one, 'message')));
    for (let phase = 1; phase <= 2 * ROUNDS; phase++) {
      for (const counter of [DONE, WON]) Atomics.store(shared, counter, 0);
      Atomics.store(shared, PHASE, phase);
      Atomics.notify(shared, PHASE);
      for (let done; (done = Atomics.load(shared, DONE)) < STARTERS; )
        expect(Atomics.wait(shared, DONE, done, 10_000)).not.toBe('timed-out');
      expect([phase, shared[WON], shared[FAILED]]).toEqual([phase, phase % 2, 0]);
    }
  });

  it('with a long path has one server too', () => {
    const folder = join(temporaryFolder(), 'long'.repeat(40));
    mkdirSync(folder);
    const lock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow('another Ballast');
    lock.release();
    lockFolder(folder).release();
  });
});

describe('a file that cannot be locked', () => {
  it('is an error with the cause, and not a free lock', () => {
    const folder = temporaryFolder();
    expect(() => acquireLock(folder)).toThrow(/^cannot lock .*: EISDIR/);
    expect(() => acquireLock(join(folder, 'missing', 'x.lock'))).toThrow(/^cannot lock .*: ENOENT/);
    writeFileSync(join(folder, 'precious'), 'precious');
    symlinkSync(join(folder, 'precious'), join(folder, 'link'));
    expect(() => acquireLock(join(folder, 'link'))).toThrow(/^cannot lock .*: ELOOP/);
    expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('precious');
  });
});
