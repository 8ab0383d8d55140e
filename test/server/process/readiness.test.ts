import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { READY_CACHE_MILLISECONDS, READY_SECONDS, Readiness } from '../../../src/server/process/readiness.js';
import { openLmdbStore } from '../../../src/server/store/lmdb/store.js';
import { Clock } from '../../harness/clock.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

function readinessOf(probe: () => Promise<void>) {
  const clock = new Clock();
  const commits = vi.fn(probe);
  return { clock, commits, readiness: new Readiness({ assertWritable: () => {}, probe: commits }, clock.now, clock.now) };
}

describe('the readiness of a store', () => {
  it('is tested by one commit for all requests within a second', async () => {
    let commits = 0;
    const store = openLmdbStore(temporaryFolder(), { committed: () => void (commits += 1) });
    onTestFinished(() => store.close());
    const clock = new Clock();
    const readiness = new Readiness(store.maintenance, clock.now, clock.now);
    await Promise.all(Array.from({ length: 300 }, () => readiness.assert()));
    clock.advance({ milliseconds: READY_CACHE_MILLISECONDS - 1 });
    await readiness.assert();
    expect([commits, store.parts.meta.get('readiness')]).toEqual([1, new Clock().millis]);
    clock.advance({ milliseconds: 1 });
    await Promise.all([readiness.assert(), readiness.assert()]);
    expect([commits, store.parts.meta.get('readiness')]).toEqual([2, clock.millis]);
  });

  it('fails in time while a write hangs, starts no other write, and recovers with it', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let answer: () => void = () => {};
    const { clock, commits, readiness } = readinessOf(() => new Promise<void>(resolve => (answer = resolve)));
    const late = expect(readiness.assert()).rejects.toThrow('a write took longer than 2 s');
    await vi.advanceTimersByTimeAsync(1000 * READY_SECONDS);
    await late;
    clock.advance({ seconds: 60 });
    await expect(readiness.assert()).rejects.toThrow('a write took longer than 2 s');
    expect(commits).toHaveBeenCalledTimes(1);
    answer();
    await vi.advanceTimersByTimeAsync(0);
    const again = readiness.assert();
    answer();
    await again;
    expect(commits).toHaveBeenCalledTimes(2);
  });

  it('is tested again when a failure is a second old', async () => {
    const { clock, commits, readiness } = readinessOf(() => Promise.reject(new Error('EIO')));
    await expect(readiness.assert()).rejects.toThrow('EIO');
    await expect(readiness.assert()).rejects.toThrow('EIO');
    commits.mockResolvedValue(undefined);
    clock.advance({ milliseconds: READY_CACHE_MILLISECONDS });
    await readiness.assert();
    expect(commits).toHaveBeenCalledTimes(2);
  });
});
