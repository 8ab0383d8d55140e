import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { CLOSE_SECONDS } from '../../src/cli/server/serve.js';
import { DRAIN_SECONDS } from '../../src/server/http/server.js';
import { READY_SECONDS } from '../../src/server/process/readiness.js';
import { subsetMessage } from '../harness/messages.js';
import { spawnServer } from '../harness/process.js';
import { FLUSHES_OF_START, failing, folderWithStore, skipUntraceable } from './failing-calls.js';

it('a server whose disk does not answer is soon not ready, and exits in time when it is stopped', async context => {
  skipUntraceable(context);
  const dataDir = await folderWithStore();
  const seconds = READY_SECONDS + DRAIN_SECONDS + CLOSE_SECONDS;
  const under = failing(dataDir, 'fdatasync', `delay_enter=${seconds + 5}s:when=${FLUSHES_OF_START}+`);
  const server = await spawnServer({ dataDir, under });
  const client = server;
  let ready = await client.get('/readyz');
  for (let builds = 0; ready.status === 200; builds += 1) {
    // Uses up the flushes of the start: `/readyz` makes one each second. A build keeps a limited number of runs, so each run is a new build.
    const recorded = client.post('/v1/build_subsets', subsetMessage({ commit_hash: `commit-${builds}` })).catch(() => {});
    ready = await client.get('/readyz');
    if (ready.status === 200) await Promise.race([recorded, sleep(100)]);
  }
  expect(ready).toMatchObject({ status: 503, json: { errors: ['not ready: the store cannot be written; see the server log'] } });
  await vi.waitFor(() => expect(server.stderr()).toContain('a write took longer than 2 s'), { timeout: 10_000 });
  server.child.kill('SIGTERM');
  const sentence =
    /"level":"fatal".*could not close within 13 s \(does the disk of \S+ answer\?\), so this process ends at once: nothing acknowledged is lost/;
  await vi.waitFor(() => expect(server.stderr()).toMatch(sentence), {
    timeout: 1000 * (DRAIN_SECONDS + CLOSE_SECONDS + 2),
    interval: 50,
  });
  // strace releases the process when the process has ended.
  await server.ended;
  expect(server.child.signalCode).toBe('SIGKILL');
});
