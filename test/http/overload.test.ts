import { Piscina } from 'piscina';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limits } from '../../src/limits.js';
import type { Reply } from '../harness/client.js';
import { manyPaths, readSplit, splitMessage, testFiles } from '../harness/messages.js';
import { startServerOnDisk } from '../harness/server.js';

const EXCESS = 3;

describe('more large suites than may wait', () => {
  it('get a 503 with Retry-After, and the server continues', async () => {
    const server = await startServerOnDisk({ workers: '1' });
    let resume = () => {};
    const held = new Promise<void>(resolve => (resume = resolve));
    const { run } = Piscina.prototype;
    const busy = vi.spyOn(Piscina.prototype, 'run').mockImplementation(async function (this: Piscina, ...task) {
      await held;
      return run.apply(this, task) as unknown;
    });
    onTestFinished(() => busy.mockRestore());
    const message = splitMessage({ cache_read_attempt: false, test_files: testFiles(manyPaths(5)) });
    const body = JSON.stringify(message).padEnd(limits.pooledBodyBytes);
    const refused: Reply[] = [];
    const send = async () => {
      const reply = await server.post('/v1/build_distributions/subset', body);
      if (reply.status !== 200) refused.push(reply);
      if (refused.length === EXCESS) resume();
      return reply.status;
    };
    // One runs in the packing thread, and one is already queued there.
    const inThread = 2;
    const sending: Promise<number>[] = [];
    for (let i = 0; i < inThread + limits.waitingJobsPerProject + EXCESS; i++) {
      sending.push(send());
      // Keeps the number of connections that wait to be accepted small.
      if (i % 100 === 99) await server.get('/healthz');
    }
    const statuses = await Promise.all(sending);
    expect(statuses.filter(status => status === 200)).toHaveLength(inThread + limits.waitingJobsPerProject);
    expect(refused).toHaveLength(EXCESS);
    for (const reply of refused) {
      expect(reply).toMatchObject({
        status: 503,
        json: { errors: ['overloaded: too many large test suites at once; try again in 2 seconds'] },
      });
      expect(reply.headers.get('retry-after')).toBe('2');
    }
    expect((await readSplit(server)).status).toBe(200);
  });
});
