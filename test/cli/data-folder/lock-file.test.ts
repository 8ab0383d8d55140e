import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { MAIN } from '../../testbed/server.js';
import { folderWithStore } from '../failing-calls.js';

/** Root may write every file, so as root the commands run as the user nobody. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
/** One opens the store to serve it, one in another thread, one as every other command does. */
const COMMANDS = [['serve', '--port', '0'], ['check'], ['project', 'create', 'two']];

function run(dataDir: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args, '--data-dir', dataDir], {
    ...nobody,
    cwd: dataDir,
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}

/** Creates a store that belongs to the user of the commands. */
async function store({ skip }: TestContext): Promise<string> {
  const dataDir = await folderWithStore();
  if (nobody.uid !== undefined) {
    for (const path of [dataDir, ...readdirSync(dataDir).map(name => join(dataDir, name))]) chownSync(path, nobody.uid, nobody.gid);
  }
  const { status } = run(dataDir, 'project', 'list');
  if (status !== 0) skip('nobody may not run this program');
  return dataDir;
}

describe('a lock file that this user may not write', () => {
  it('is named in the error of every command, with the remedy', async context => {
    const dataDir = await store(context);
    const file = join(dataDir, 'ballast.lmdb-lock');
    // As if root had opened the store of another user.
    if (nobody.uid !== undefined) chownSync(file, 0, 0);
    chmodSync(file, 0o444);
    const sentence =
      `ballast: cannot open ${file}: this user may not read and write it (EACCES); ` +
      'run every command as the user of the server, and give the file to that user (chown) or delete it while nothing uses the store\n';
    for (const command of COMMANDS) {
      const { status, stdout, stderr } = run(dataDir, ...command);
      expect({ command, status, stdout, stderr }).toEqual({ command, status: 1, stdout: '', stderr: sentence });
    }
  });

  it('is named, too, if this user may not create it in the folder', async context => {
    const dataDir = await store(context);
    rmSync(join(dataDir, 'ballast.lmdb-lock'));
    chmodSync(dataDir, 0o555);
    onTestFinished(() => chmodSync(dataDir, 0o755));
    const { status, stdout, stderr } = run(dataDir, 'check');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(
      /^ballast: cannot open the store in .*: EACCES: permission denied, access .*; BALLAST_DATA_DIR \(--data-dir\) must name a folder that this user may write to\n$/,
    );
  });
});
