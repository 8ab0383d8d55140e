import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lockFolder } from '../../src/store/lmdb/open-lock.js';
import { spawnServer } from '../harness/process.js';

it('a killed server releases its folder at once and leaves the lock file', async () => {
  const { dataDir, child, stop } = await spawnServer();
  const file = join(dataDir, 'serve.lock');
  expect(() => lockFolder(dataDir)).toThrow(`another Ballast serves this folder (process ${child.pid} on `);
  await stop('SIGKILL');
  const lock = lockFolder(dataDir);
  expect(readFileSync(file, 'utf8')).toBe(`${process.pid} ${hostname()}\n`);
  lock.release();
  expect(existsSync(file)).toBe(true);
});
