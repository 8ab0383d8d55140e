import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { initialise, manyPaths, record, startSplit } from '../harness/messages.js';
import { runBallast } from '../harness/process.js';
import { startServerOnDisk } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

let original: string | null = null;

/** Copies a closed store with data. Returns the copy and its file. */
async function usedStore(): Promise<{ dataDir: string; file: string }> {
  original ??= await createStore();
  const dataDir = temporaryFolder();
  cpSync(original, dataDir, { recursive: true });
  return { dataDir, file: join(dataDir, 'ballast.lmdb') };
}

async function createStore(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ballast-'));
  const server = await startServerOnDisk({ dataDir });
  await record(server);
  await initialise(server, manyPaths(500));
  await startSplit(server, manyPaths(500));
  await server.close();
  return dataDir;
}

afterAll(() => original && rmSync(original, { recursive: true }));

const serve = (dataDir: string) => runBallast(['serve', '--port', '0', '--data-dir', dataDir]);

describe('a store whose file is damaged', () => {
  it.each<[situation: string, wound: (file: string) => void, sentence: RegExp]>([
    [
      'is empty',
      file => truncateSync(file, 0),
      /^ballast: cannot open .*ballast\.lmdb: the file is empty; put a backup in its place, or start with another folder\n$/,
    ],
    [
      'is another file',
      file => writeFileSync(file, 'dear diary'),
      /^ballast: cannot open .*: the file is damaged or not a store; put a backup /,
    ],
    [
      'has lost its head',
      file => void writeSync(openSync(file, 'r+'), randomBytes(8192), 0, 8192, 0),
      /: the file is damaged or not a store; /,
    ],
    [
      'has lost half of its head',
      file => void writeSync(openSync(file, 'r+'), randomBytes(4096), 0, 4096, 4096),
      /: the file is damaged or not a store; /,
    ],
    ['is a few bytes', file => truncateSync(file, 100), /: the file is damaged or not a store; /],
  ])('is refused with an error if it %s, and is not changed', async (_, wound, sentence) => {
    const { dataDir, file } = await usedStore();
    wound(file);
    const { size } = statSync(file);
    const { code, stdout, stderr } = await serve(dataDir);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(statSync(file).size).toBe(size);
  });

  it('is refused by commands, too', async () => {
    const { dataDir, file } = await usedStore();
    truncateSync(file, 100);
    const { code, stderr } = await runBallast(['check', '--data-dir', dataDir]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/: the file is damaged or not a store; put a backup /);
  });

  it.each(['journal-0', 'journal-1'])('is refused without its file %s, and goes on without both', async name => {
    const { dataDir } = await usedStore();
    rmSync(join(dataDir, name));
    const sentence = new RegExp(
      `${name} is missing or is not the file that was written; restore a backup, or delete journal-0 and journal-1 `,
    );
    expect(await serve(dataDir)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(sentence) as string });
    const checked = await runBallast(['check', '--data-dir', dataDir]);
    expect(checked.code).toBe(1);
    expect(checked.stdout).toMatch(sentence);
    for (const each of ['journal-0', 'journal-1']) rmSync(join(dataDir, each), { force: true });
    const server = await startServerOnDisk({ dataDir });
    await record(server);
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
