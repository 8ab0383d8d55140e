import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signedInOperator } from '../harness/browser.js';
import type { Client } from '../harness/client.js';
import { initialise, manyPaths, pathsIn, pull, pullAll, record, sortPaths, timedTestFiles } from '../harness/messages.js';
import { problemsIn } from '../harness/problems.js';
import { ended, runBallast } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer, startServerOnDisk } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { folderWithStore } from './failing-calls.js';

/** Copies in the process of the test, where no server may have the folder open. */
const backup = (dataDir: string, target: string, ...flags: string[]) => runInProcess(['backup', target, ...flags, '--data-dir', dataDir]);

/** Records builds one at a time until `over`. Returns their commits in the order of acknowledgement. */
async function recordOn(server: Client, isOver: () => boolean): Promise<string[]> {
  const commits: string[] = [];
  while (!isOver()) {
    const commit_hash = `commit-${commits.length}`;
    await record(server, { commit_hash, test_files: timedTestFiles({ 'a_spec.rb': commits.length + 1 }) });
    commits.push(commit_hash);
  }
  return commits;
}

async function commitsOf(server: Client): Promise<string[]> {
  const commits: string[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const { json } = await server.get(`/v1/builds?page=${page}`);
    commits.push(...(json.data as { commit_hash: string }[]).map(({ commit_hash }) => commit_hash));
    page = json.meta.is_last_page ? null : page + 1;
  }
  return commits;
}

describe('ballast backup', () => {
  it('copies all acknowledged data while the server records; the copy is sound and can be served', async () => {
    const server = await startServerOnDisk();
    const paths = manyPaths(300);
    const queue = { node_total: 3, node_build_id: '7' };
    await initialise(server, paths, { ...queue, skip_pull: true });
    const before = pathsIn(await pull(server, queue));
    await record(server, { commit_hash: 'acknowledged' });
    let over = false;
    const recording = recordOn(server, () => over);
    const target = join(temporaryFolder(), 'new', 'folder');
    const { code, stdout, stderr } = await runBallast(['backup', target, '--data-dir', server.dataDir]);
    over = true;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/ballast\.lmdb: \d+ bytes in [\d.]+ s\nto restore it, serve this folder or a copy of it \(--data-dir\)\n$/);
    expect(readdirSync(target)).toEqual(['ballast.lmdb']);
    expect(await problemsIn(target)).toEqual([]);
    const operator = await signedInOperator(server.url, server.store);
    expect((await operator.get('/dashboard/server')).json.backup.last_at).toMatch(/^\d{4}-/);

    const restored = await startServer({ dataDir: target });
    const commits = await commitsOf(restored);
    expect(commits.at(-1)).toBe('acknowledged');
    // A snapshot: all commits up to one moment, and none later.
    expect(commits.slice(0, -1).reverse()).toEqual((await recording).slice(0, commits.length - 1));
    const rest = await pullAll(restored, { ...queue, node_index: 1 });
    expect(sortPaths([...before, ...rest])).toEqual(paths);
  });

  it('prints JSON with --json', async () => {
    const dataDir = await folderWithStore();
    const target = temporaryFolder();
    expect(JSON.parse((await backup(dataDir, target, '--json')).stdout)).toEqual({
      file: join(target, 'ballast.lmdb'),
      bytes: expect.any(Number) as number,
      seconds: expect.any(Number) as number,
    });
  });

  it('reports why it could not write, and never overwrites a store', async () => {
    const dataDir = await folderWithStore();
    const below = join(temporaryFolder(), 'file', 'below');
    writeFileSync(dirname(below), '');
    expect(await backup(dataDir, below)).toEqual(ended(1, `ballast: cannot back up ${dataDir} to ${below}: `, ''));
    const sentence = `ballast: cannot back up to ${dataDir}: it already contains a store; name another folder, or remove the store\n`;
    expect(await backup(dataDir, dataDir)).toEqual({ code: 1, stdout: '', stderr: sentence });
  });
});
