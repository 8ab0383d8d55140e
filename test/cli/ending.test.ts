import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { backup } from '../../src/cli/server/backup.js';
import { check } from '../../src/cli/server/check.js';
import { exportStore } from '../../src/cli/server/export.js';
import { openTables } from '../../src/server/store/lmdb/tables.js';
import type { StoreSource } from '../../src/server/store/source.js';
import { manyPaths, record, timedTestFiles } from '../harness/messages.js';
import { startServerOnDisk } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { MAIN } from '../testbed/server.js';
import { folderWithStore } from './failing-calls.js';

/** Returns the ids of the processes with a read lock on the store. */
function readersOf(dataDir: string): number[] {
  const { root } = openTables(dataDir);
  const list = root.readerList();
  void root.close();
  return [...list.matchAll(/^\s*(\d+)\s/gm)].map(([, pid]) => Number(pid)).filter(pid => pid !== process.pid);
}

describe('a command that reads a store', () => {
  it.each<[name: string, run: (source: StoreSource, target: string, stop: AbortSignal) => Promise<void>]>([
    ['backup', (source, target, stop) => backup(source, target, {}, stop)],
    ['check', (source, _, stop) => check(source, {}, stop)],
    ['export', (source, target, stop) => exportStore(source, { output: join(target, 'x'), builds: true, timings: true }, stop)],
  ])('%s leaves nothing behind when it is stopped', async (_, run) => {
    const dataDir = await folderWithStore();
    const target = temporaryFolder();
    const stopping = new AbortController();
    const running = expect(run({ dataDir }, target, stopping.signal)).rejects.toThrow(/told to stop|operation was aborted/);
    // Before any thread or process has started.
    stopping.abort(new Error('told to stop'));
    await running;
    expect({ left: readdirSync(target), readers: readersOf(dataDir) }).toEqual({ left: [], readers: [] });
  });

  it('ends with the exit code of the signal', async () => {
    const server = await startServerOnDisk();
    await record(server, { test_files: timedTestFiles(Object.fromEntries(manyPaths(5000).map(path => [path, 1]))) });
    // The output is not read, and is larger than the buffer of a pipe.
    const child = spawn(process.execPath, [MAIN, 'export', '--data-dir', server.dataDir], { stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    await once(child.stdout, 'readable');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([143, null]);
    expect(stderr).toBe('ballast: ended by SIGTERM\n');
  });
});

describe('a process that is killed while it reads the store', () => {
  it('is noticed by the server, which then reuses freed pages', async () => {
    const server = await startServerOnDisk();
    const program = `
      import { openTables } from '${new URL('../../src/server/store/lmdb/tables.js', import.meta.url).href}';
      const { root } = openTables(${JSON.stringify(server.dataDir)});
      root.useReadTransaction();
      console.log('reading');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const { root } = openTables(server.dataDir);
    const isReading = () => root.readerList().includes(`${child.pid}`);
    expect(isReading()).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await vi.waitFor(() => expect(isReading()).toBe(false), { timeout: 5000, interval: 50 });
    expect(server.log.join()).toContain('cleared the read locks of a process that ended without closing the store');
    await root.close();
  });
});
