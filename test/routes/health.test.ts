import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limits } from '../../src/limits.js';
import { openLog } from '../../src/log.js';
import type { Context } from '../../src/routes/context.js';
import { ready } from '../../src/routes/health.js';
import { startServer } from '../harness/server.js';

describe('health', () => {
  it('needs no token', async () => {
    const server = await startServer();
    expect(await server.send('/healthz', {})).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await server.send('/readyz', {})).toMatchObject({ status: 200, json: { status: 'ready' } });
  });

  it('answers HEAD with a length and no body', async () => {
    const server = await startServer();
    const reply = await server.send('/healthz', { method: 'HEAD' });
    expect(reply).toMatchObject({ status: 200, text: '' });
    expect(reply.headers.get('content-length')).toBe('15');
  });
});

describe('/readyz', () => {
  it('does not wait for a store that never answers', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const log = openLog('silent');
    const store = { room: { assert: () => {} }, root: { transaction: () => new Promise(() => {}) } };
    const answer = expect(ready({ store, log, now: Date.now } as unknown as Context)).rejects.toMatchObject({ status: 503 });
    await vi.advanceTimersByTimeAsync(1000 * limits.readySeconds);
    await answer;
  });
});
