import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { locks } from '../../../../../src/base/locks.js';
import { openTables } from '../../../../../src/server/store/lmdb/tables.js';
import { temporaryFolder } from '../../../../harness/temporary-folder.js';

const tables = new URL('../../../../../src/server/store/lmdb/tables.js', import.meta.url).href;

/** A process that runs a program, in which `openTables` is known, on a folder. */
function start(program: string, dataDir: string) {
  const code = `import(${JSON.stringify(tables)}).then(async ({ openTables }) => { const dataDir = process.argv[1]; ${program} });`;
  const child = spawn(process.execPath, ['-e', code, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return { child, line: async () => (await lines.next()).value as string | undefined };
}

describe('a store that others use', () => {
  it('is opened when no other process commits to it', async () => {
    const dataDir = temporaryFolder();
    const committing = openSync(join(dataDir, 'open.lock'), 'w+');
    locks.tryLock(committing, true);
    const { child, line } = start(
      "console.log('opens'); const { root } = openTables(dataDir); console.log('open'); await root.close();",
      dataDir,
    );
    expect(await line()).toBe('opens');
    const opened = line();
    expect(await Promise.race([opened, new Promise(resolve => setTimeout(resolve, 100, 'waits'))])).toBe('waits');
    locks.unlock(committing);
    expect(await opened).toBe('open');
    await once(child, 'exit');
  });

  it('keeps every transaction that was flushed while others open it', async () => {
    const dataDir = temporaryFolder();
    const { root, meta } = openTables(dataDir);
    onTestFinished(() => root.close());
    const opens = `console.log('here'); for (const until = Date.now() + 700; Date.now() < until; ) await openTables(dataDir).root.close();`;
    const openers = [start(opens, dataDir), start(opens, dataDir)];
    await Promise.all(openers.map(({ line }) => line()));
    let isOver = false;
    const ended = Promise.all(openers.map(({ child }) => once(child, 'exit'))).then(() => (isOver = true));
    let written = 0;
    for (; !isOver; written++) {
      const at = written;
      await root.transaction(() => void meta.put(`transaction ${at}`, at));
    }
    await ended;
    const kept = Array.from({ length: written }, (_, at) => meta.get(`transaction ${at}`));
    expect(kept.filter((value, at) => value !== at)).toEqual([]);
    expect(written).toBeGreaterThan(10);
  });
});
