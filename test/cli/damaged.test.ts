import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { initialise, manyPaths, record, startSplit } from '../harness/messages.js';
import { ended, runBallast } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const original = temporaryFolder(afterAll);

/** Copies a closed store with data. Returns the copy and its file. */
async function usedStore(): Promise<{ dataDir: string; file: string }> {
  if (!existsSync(join(original, 'ballast.lmdb'))) await fill(original);
  const dataDir = temporaryFolder();
  cpSync(original, dataDir, { recursive: true });
  return { dataDir, file: join(dataDir, 'ballast.lmdb') };
}

async function fill(dataDir: string): Promise<void> {
  const server = await startServer({ dataDir });
  await record(server);
  await initialise(server, manyPaths(500));
  await startSplit(server, manyPaths(500));
  await server.close();
}

const serve = (dataDir: string) => runBallast(['serve', '--port', '0', '--data-dir', dataDir]);
const NO_STORE =
  /^cannot open .*ballast\.lmdb: the file is damaged or not a store; put a backup in its place, or start with another folder$/;

describe('a store whose file is damaged', () => {
  it.each<[situation: string, wound: (file: string) => void]>([
    ['is another file', file => writeFileSync(file, 'dear diary')],
    ['has lost its head', file => void writeSync(openSync(file, 'r+'), randomBytes(8192), 0, 8192, 0)],
    ['has lost half of its head', file => void writeSync(openSync(file, 'r+'), randomBytes(4096), 0, 4096, 4096)],
    ['is a few bytes', file => truncateSync(file, 100)],
  ])('is refused by the server and by commands if it %s, and is not changed', async (_, wound) => {
    const { dataDir, file } = await usedStore();
    wound(file);
    const { size } = statSync(file);
    await expect(startServer({ dataDir })).rejects.toThrow(NO_STORE);
    expect(await runInProcess(['check', '--data-dir', dataDir])).toMatchObject(ended(1, /: the file is damaged or not a store; /));
    expect(statSync(file).size).toBe(size);
  });

  it('is refused with an error if it is empty', async () => {
    const { dataDir, file } = await usedStore();
    truncateSync(file, 0);
    const sentence = /^ballast: cannot open .*ballast\.lmdb: the file is empty; put a backup in its place, or start with another folder\n$/;
    expect(await serve(dataDir)).toEqual(ended(1, sentence, ''));
    expect(statSync(file).size).toBe(0);
  });

  it('is refused without a file of its journal, and goes on without both', async () => {
    const { dataDir } = await usedStore();
    rmSync(join(dataDir, 'journal-1'));
    const sentence = /journal-1 is missing or is not the file that was written; restore a backup, or delete journal-0 and journal-1 /;
    await expect(startServer({ dataDir })).rejects.toThrow(sentence);
    const checked = await runInProcess(['check', '--data-dir', dataDir]);
    expect(checked).toMatchObject({ code: 1, stdout: expect.stringMatching(sentence) as string });
    rmSync(join(dataDir, 'journal-0'));
    await record(await startServer({ dataDir }));
  });

  it('is refused with an error if it is truncated', async () => {
    const { dataDir, file } = await usedStore();
    const { size } = statSync(file);
    truncateSync(file, 5 * 4096);
    const { code, stdout, stderr } = await serve(dataDir);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^ballast: cannot serve .*: its store was cut off: it has 20480 of \d+ bytes; restore a backup\n$/);
    expect(Number(/of (\d+) bytes/.exec(stderr)![1])).toBeLessThanOrEqual(size);
    expect((await runBallast(['check', '--data-dir', dataDir])).stderr).toMatch(
      /^ballast: the store has 20480 of \d+ bytes; if the command ends without a message, the file was cut off\n/,
    );
  });
});
