import { openSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConnectionLimiter, connectionCapacity } from '../../src/http/connection-limiter.js';
import { limits } from '../../src/limits.js';
import { openLog } from '../../src/server/log.js';

/** An open door with room for so many connections, and whether it listens. */
async function doorFor(connections: number) {
  const state = { listens: false, times: 0, isTaken: false, log: [] as string[] };
  const listen = async () => {
    if (state.isTaken) return null;
    state.listens = true;
    state.times += 1;
    return { port: 0, close: () => void (state.listens = false) };
  };
  const log = openLog('info', { write: line => state.log.push((JSON.parse(line) as { msg: string }).msg) });
  const door = new ConnectionLimiter({ listen, capacity: { maxConnections: connections, maxOpenFiles: 40 } }, log);
  await door.open();
  return { state, door };
}

/** Lets the door's promises settle. */
const settled = () => new Promise(resolve => setImmediate(resolve));

describe('a door', () => {
  it('is closed to more connections than there is room for, and open again when enough of them ended', async () => {
    const { state, door } = await doorFor(32);
    for (let i = 1; i < 32; i++) door.count(1);
    expect(state.listens).toBe(true);
    door.count(1);
    expect(state.listens).toBe(false);
    door.count(-1);
    door.count(-1);
    await settled();
    expect(state.listens).toBe(false);
    door.count(-1);
    await settled();
    expect(state).toMatchObject({
      listens: true,
      log: [
        'no room for more connections, new ones are refused until others close: the limit is 40 open files; raise it (LimitNOFILE of systemd, ulimit -n)',
        'there is room for connections again',
      ],
    });
  });

  it('that is open closes its listener and opens another', async () => {
    const { state, door } = await doorFor(2);
    await door.reopen();
    expect(state).toMatchObject({ listens: true, times: 2 });
    door.count(1);
    door.count(1);
    await door.reopen();
    expect([door.connections, state.listens, state.times]).toEqual([2, false, 2]);
  });

  it('that has no room any more when it has opened is closed again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { state, door } = await doorFor(1);
    door.count(1);
    door.count(-1);
    door.count(1);
    await settled();
    expect(state).toMatchObject({ listens: false, times: 2 });
    vi.advanceTimersByTime(limits.listenRetryMilliseconds);
    await settled();
    expect(state.times).toBe(2);
    door.count(-1);
    await settled();
    expect(state.listens).toBe(true);
  });

  it('tells of that once a minute', async () => {
    const { state, door } = await doorFor(1);
    for (let i = 0; i < 10; i++) {
      door.count(1);
      door.count(-1);
      await settled();
    }
    expect(state.log).toHaveLength(2);
  });

  it('that cannot be opened, because the port was taken meanwhile, is tried again', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { state, door } = await doorFor(1);
    door.count(1);
    state.isTaken = true;
    door.count(-1);
    await vi.advanceTimersByTimeAsync(1);
    expect(state.listens).toBe(false);
    state.isTaken = false;
    await vi.advanceTimersByTimeAsync(limits.listenRetryMilliseconds);
    expect(state.listens).toBe(true);
  });

  it('that was shut stays so', async () => {
    const { state, door } = await doorFor(1);
    door.count(1);
    door.count(-1);
    door.close();
    await settled();
    expect(state.listens).toBe(false);
    expect(await door.open()).toBeNull();
  });
});

describe.skipIf(process.platform !== 'linux')('the limit of open files', () => {
  it('leaves room beside what is open already', () => {
    const before = connectionCapacity();
    expect(before.maxConnections).toBeLessThan(before.maxOpenFiles);
    openSync('/dev/null', 'r');
    expect(connectionCapacity()).toEqual({ ...before, maxConnections: before.maxConnections - 1 });
  });
});
