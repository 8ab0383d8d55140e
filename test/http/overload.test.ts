import { describe, expect, it } from 'vitest';
import { listed, manyPaths, readSplit, splitMessage } from '../harness/messages.js';
import { startServer } from '../harness/server.js';

describe('more large suites at once than may wait', () => {
  it('are told to come back, and the server goes on', async () => {
    const server = await startServer({ workers: '1' });
    const body = (branch: string, count: number) => {
      const message = splitMessage({ branch, cache_read_attempt: false, test_files: listed(manyPaths(count)) });
      return JSON.stringify(message).padEnd(70_000);
    };
    // The long ones keep the only thread busy while the short ones arrive.
    const long = ['a', 'b', 'c'].map(branch => body(branch, 100_000));
    const bodies = [...long, ...Array<string>(300).fill(body('d', 1))];
    const replies = await Promise.all(bodies.map(text => server.post('/v1/build_distributions/subset', text)));
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(replies.length);
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
