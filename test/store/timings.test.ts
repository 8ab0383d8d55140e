import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.js';
import { timingsOf } from '../../src/store/timings.js';
import { recordRun, recordTimes, temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);

describe('timings', () => {
  it('are found in the order of the paths, null where nothing was measured', async () => {
    const store = temporaryStore();
    await recordTimes(store, 1, { 'a_spec.rb': 1.5, 'b_spec.rb': 20 }, NOW);
    expect(timingsOf(store, 1, ['b_spec.rb', 'new_spec.rb', 'a_spec.rb'])).toEqual([20, null, 1.5]);
  });

  it('belong to one project', async () => {
    const store = temporaryStore();
    await recordTimes(store, 1, { 'a_spec.rb': 1.5 }, NOW);
    expect(timingsOf(store, 2, ['a_spec.rb'])).toEqual([null]);
  });

  it('follow the newest record', async () => {
    const store = temporaryStore();
    await recordTimes(store, 1, { 'a_spec.rb': 4, 'b_spec.rb': 4 }, NOW);
    await recordTimes(store, 1, { 'a_spec.rb': 8 }, NOW + 5000);
    const [renewed, old] = timingsOf(store, 1, ['a_spec.rb', 'b_spec.rb']);
    expect(old).toBe(4);
    expect(renewed).toBeGreaterThan(4);
    expect(renewed).toBeLessThanOrEqual(8);
  });

  it('of a large suite are all recorded, in more transactions than one', async () => {
    const store = temporaryStore();
    const times = Object.fromEntries(
      Array.from({ length: 2 * limits.timingsPerCommit + 1 }, (_, i) => [`spec/file_${i}_spec.rb`, i + 1]),
    );
    await recordTimes(store, 1, times, NOW);
    expect(timingsOf(store, 1, Object.keys(times))).toEqual(Object.values(times));
  });

  it('are one record a path, however often they are renewed', async () => {
    const store = temporaryStore();
    for (let i = 0; i < 5; i++) await recordTimes(store, 1, { 'a_spec.rb': 1 + i, 'b_spec.rb': 2 }, NOW + i);
    expect(store.timings.getCount()).toBe(2);
  });

  it('are recorded with the run that has them, but never a 0, which was only scheduled', async () => {
    const store = temporaryStore();
    const key = { commit_hash: 'abc', branch: 'main', node_total: 1, node_index: 0 };
    const files = [
      { path: 'a_spec.rb', time_execution: 2.5 },
      { path: 'b_spec.rb', time_execution: 0 },
    ];
    expect(await recordRun(store, 1, key, files, NOW)).toBe('recorded');
    expect(timingsOf(store, 1, ['a_spec.rb', 'b_spec.rb'])).toEqual([2.5, null]);
  });

  it('of a run beyond the retries that are kept are not recorded', async () => {
    const store = temporaryStore();
    const key = { commit_hash: 'abc', branch: 'main', node_total: 1, node_index: 0 };
    const run = (seconds: number, at: number) =>
      recordRun(store, 1, key, [{ path: 'a_spec.rb', time_execution: seconds }], at);
    await Promise.all(Array.from({ length: limits.runsPerNode }, (_, i) => run(2, NOW + i)));
    expect(await run(1000, NOW + 500)).toBe('retried too often');
    expect(timingsOf(store, 1, ['a_spec.rb'])).toEqual([2]);
  });
});
