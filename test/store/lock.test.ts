import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockFolder } from '../../src/store/lock.js';
import { spawnServer } from '../harness/process.js';
import { startServer, temporaryFolder } from '../harness/server.js';

describe('a folder', () => {
  it('has one server at a time', async () => {
    const { dataDir, close } = await startServer();
    await expect(startServer({ dataDir })).rejects.toThrow(
      `cannot take ${dataDir}: another Ballast serves this folder; stop it, or choose another with BALLAST_DATA_DIR`,
    );
    await close();
    expect((await (await startServer({ dataDir })).send('/readyz', {})).status).toBe(200);
  });

  it('is free at once when its server was killed', async () => {
    const folder = temporaryFolder();
    await (await spawnServer(folder)).kill();
    expect(existsSync(join(folder, 'serve.sock'))).toBe(true);
    await (await lockFolder(folder))();
  });

  it('of a path too long for a socket has one server too', async () => {
    const folder = join(temporaryFolder(), 'long'.repeat(40));
    mkdirSync(folder);
    const unlock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow('another Ballast');
    await unlock();
    await (await lockFolder(folder))();
  });

  it('that cannot hold a store is named with the setting', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    await expect(startServer({ dataDir: file })).rejects.toThrow(
      /^cannot open the store in .*file: .*; BALLAST_DATA_DIR \(--data-dir\) must name a folder that this user may write to$/,
    );
  });
});
