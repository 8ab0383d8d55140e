import { openSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConnectionLimiter, connectionCapacity, LISTEN_RETRY_MILLISECONDS } from '../../../src/server/http/connection-limiter.js';
import { openLog } from '../../../src/server/process/log.js';

/** Opens a limiter for a number of connections, and records whether it listens. */
async function openLimiter(maxConnections: number) {
  const state = { isListening: false, listenCalls: 0, isPortTaken: false, log: [] as string[] };
  const listen = async () => {
    if (state.isPortTaken) return null;
    state.isListening = true;
    state.listenCalls += 1;
    return { port: 0, close: () => void (state.isListening = false) };
  };
  const log = openLog('info', { write: line => state.log.push((JSON.parse(line) as { msg: string }).msg) });
  const limiter = new ConnectionLimiter(listen, { maxConnections, maxOpenFiles: 40 }, log);
  await limiter.open();
  return { state, limiter };
}

/** Waits until the limiter's promises are settled. */
const settle = () => new Promise(resolve => setImmediate(resolve));

describe('a connection limiter', () => {
  it('stops listening at the limit, and listens again when enough connections have closed', async () => {
    const { state, limiter } = await openLimiter(32);
    for (let i = 1; i < 32; i++) limiter.count(1);
    expect(state.isListening).toBe(true);
    limiter.count(1);
    expect(state.isListening).toBe(false);
    limiter.count(-1);
    limiter.count(-1);
    await settle();
    expect(state.isListening).toBe(false);
    limiter.count(-1);
    await settle();
    expect(state).toMatchObject({
      isListening: true,
      log: [
        'no room for more connections, new ones are refused until others close: the limit is 40 open files; raise it (LimitNOFILE of systemd, ulimit -n)',
        'there is room for connections again',
      ],
    });
  });

  it('reopens its listener', async () => {
    const { state, limiter } = await openLimiter(2);
    await limiter.reopen();
    expect(state).toMatchObject({ isListening: true, listenCalls: 2 });
    limiter.count(1);
    limiter.count(1);
    await limiter.reopen();
    expect([limiter.connections, state.isListening, state.listenCalls]).toEqual([2, false, 2]);
  });

  it('stops listening if it became full while it opened', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { state, limiter } = await openLimiter(1);
    limiter.count(1);
    limiter.count(-1);
    limiter.count(1);
    await settle();
    expect(state).toMatchObject({ isListening: false, listenCalls: 2 });
    vi.advanceTimersByTime(LISTEN_RETRY_MILLISECONDS);
    await settle();
    expect(state.listenCalls).toBe(2);
    limiter.count(-1);
    await settle();
    expect(state.isListening).toBe(true);
  });

  it('logs that at most once a minute', async () => {
    const { state, limiter } = await openLimiter(1);
    for (let i = 0; i < 10; i++) {
      limiter.count(1);
      limiter.count(-1);
      await settle();
    }
    expect(state.log).toHaveLength(2);
  });

  it('tries again if another process took the port', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { state, limiter } = await openLimiter(1);
    limiter.count(1);
    state.isPortTaken = true;
    limiter.count(-1);
    await vi.advanceTimersByTimeAsync(1);
    expect(state.isListening).toBe(false);
    state.isPortTaken = false;
    await vi.advanceTimersByTimeAsync(LISTEN_RETRY_MILLISECONDS);
    expect(state.isListening).toBe(true);
  });

  it('does not listen after it was closed', async () => {
    const { state, limiter } = await openLimiter(1);
    limiter.count(1);
    limiter.count(-1);
    limiter.close();
    await settle();
    expect(state.isListening).toBe(false);
    expect(await limiter.open()).toBeNull();
  });
});

describe.skipIf(process.platform !== 'linux')('the limit of open files', () => {
  it('counts the files that are open already', () => {
    const before = connectionCapacity();
    expect(before.maxConnections).toBeLessThan(before.maxOpenFiles);
    openSync('/dev/null', 'r');
    expect(connectionCapacity()).toEqual({ ...before, maxConnections: before.maxConnections - 1 });
  });
});
