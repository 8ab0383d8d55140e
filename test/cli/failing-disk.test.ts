import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { JOURNAL_FILES } from '../../src/server/store/lmdb/writes/journal-files.js';
import type { Client } from '../harness/client.js';
import { initialise, manyPaths, pathsIn, pull, pullAll, sortPaths, subsetMessage } from '../harness/messages.js';
import { problemsIn } from '../harness/problems.js';
import { spawnServer } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { MAIN } from '../testbed/server.js';
import { FLUSHES_OF_START, failing, folderWithStore, skipUntraceable } from './failing-calls.js';

const SENTENCE =
  /the disk failed the store in \S+ \(Input\/output error\), so this process ends at once: nothing acknowledged is lost; check the disk, and start again/;

/** Records builds one at a time until the server has exited. Returns the acknowledged commits. */
async function recordUntilGone(client: Client): Promise<string[]> {
  const acknowledged: string[] = [];
  for (;;) {
    const commit_hash = `commit-${acknowledged.length}`;
    const reply = await client.post('/v1/build_subsets', subsetMessage({ commit_hash })).catch(() => null);
    if (reply?.status !== 201) return acknowledged;
    acknowledged.push(commit_hash);
  }
}

/** Returns the commits that a server does not have. */
async function missing(client: Client, commits: readonly string[]): Promise<string[]> {
  const replies = await Promise.all(commits.map(commit => client.get(`/v1/builds?commit_hash=${commit}`)));
  return commits.filter((_, i) => replies[i]!.json.data.length !== 1);
}

/** A server whose calls fail, after its end, and the commits that it acknowledged before. */
async function failed(call: string, fault: string) {
  const dataDir = await folderWithStore();
  const server = await spawnServer({ dataDir, under: failing(dataDir, call, fault) });
  const acknowledged = await recordUntilGone(server);
  await server.ended;
  return { dataDir, server, acknowledged };
}

describe('a server whose disk', () => {
  it('fails a flush exits at once with the reason, and has all acknowledged data at the next start', async context => {
    skipUntraceable(context);
    const { dataDir, server, acknowledged } = await failed('fdatasync', `error=EIO:when=${FLUSHES_OF_START}+`);
    expect(server.child.signalCode).toBe('SIGKILL');
    expect(server.stderr()).toMatch(SENTENCE);
    expect(server.stderr().match(/"level":"fatal"/g)).toHaveLength(1);

    const again = await startServer({ dataDir });
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(await missing(again, acknowledged)).toEqual([]);
  });

  it('fails a write exits, too', async context => {
    skipUntraceable(context);
    // Each flush makes two such calls.
    const { dataDir, server, acknowledged } = await failed('pwrite64', `error=EDQUOT:when=${4 * FLUSHES_OF_START}+`);
    // Overwritten memory may crash the process before it exits by itself.
    expect(server.child.signalCode).toMatch(/^SIG(KILL|ABRT|SEGV)$/);

    const again = await startServer({ dataDir });
    expect(await missing(again, acknowledged)).toEqual([]);
    await again.close();
    expect(await problemsIn(dataDir)).toEqual([]);
  });

  it('fails the journal exits at once, and a node has its batches at the next start', async context => {
    skipUntraceable(context);
    const dataDir = temporaryFolder();
    // strace counts by thread, and the first write makes the file larger.
    const server = await spawnServer({ dataDir, under: failing(dataDir, 'pwrite64', 'error=ENOSPC:when=3+', JOURNAL_FILES) });
    const paths = manyPaths(500);
    await initialise(server, paths, { skip_pull: true });
    const handed = new Map<string, string[]>();
    for (let batch_uuid = 'u-0'; ; batch_uuid = `u-${handed.size}`) {
      const reply = await pull(server, { batch_uuid }).catch(() => null);
      if (reply?.status !== 200) break;
      handed.set(batch_uuid, pathsIn(reply));
      expect(handed.get(batch_uuid)).not.toEqual([]);
    }
    await server.ended;
    expect(server.child.signalCode).toBe('SIGKILL');
    expect(server.stderr()).toContain(
      `the disk failed the store in ${dataDir} (ENOSPC while writing the journal), so this process ends at once`,
    );

    const again = await startServer({ dataDir });
    expect(handed.size).toBeGreaterThan(0);
    for (const [batch_uuid, files] of handed) expect(pathsIn(await pull(again, { batch_uuid }))).toEqual(files);
    const rest = await pullAll(again, {});
    expect(sortPaths([...handed.values()].flat().concat(rest))).toEqual(paths);
  });
});

it('a command whose disk fails exits with the same error', async context => {
  skipUntraceable(context);
  const dataDir = await folderWithStore();
  const [command, ...args] = failing(dataDir, 'fdatasync', 'error=EIO') as [string, ...string[]];
  const { signal, stdout, stderr } = spawnSync(
    command,
    [...args, process.execPath, MAIN, 'project', 'create', 'two', '--data-dir', dataDir],
    { encoding: 'utf8' },
  );
  expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' });
  expect(stderr).toMatch(new RegExp(`^ballast: ${SENTENCE.source}$`, 'm'));
  expect((await runInProcess(['project', 'list', '--data-dir', dataDir])).stdout).toMatch(/^default\t/);
});
