import { describe, expect, it } from 'vitest';
import { createProject } from '../../../src/engine/access.js';
import { limits } from '../../../src/limits.js';
import { lmdbAccess } from '../../../src/store/lmdb/access.js';
import { decodeTimings } from '../../../src/store/lmdb/codecs/timing-codec.js';
import type { Parts } from '../../../src/store/lmdb/parts.js';
import { lmdbTimings } from '../../../src/store/lmdb/timings.js';
import { recordRun, recordTimes, secondsOf, temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

/** A project and how its builds are recorded: each call is another build two days on, or a run of the commit named. */
async function projectOf(store: Parts) {
  const { id } = await createProject(lmdbAccess(store), 'web', NOW);
  const commits: string[] = [];
  const record = (branch: string, times: Record<string, number>, given: { commit?: string; node_index?: number } = {}) => {
    const { commit: commit_hash = `commit-${commits.length}`, node_index = 0 } = given;
    if (!commits.includes(commit_hash)) commits.push(commit_hash);
    const at = NOW + commits.indexOf(commit_hash) * 2 * DAY;
    const files = Object.entries(times).map(([path, time_execution]) => ({ path, time_execution }));
    return recordRun(store, id, { commit_hash, branch, node_total: 2, node_index }, files, at);
  };
  return { id, record };
}

describe('timings', () => {
  it('are found in the order of the paths, null where nothing was measured', async () => {
    const store = temporaryStore();
    await recordTimes(store, 1, { 'a_spec.rb': 1.5, 'b_spec.rb': 20 }, NOW);
    expect(secondsOf(store, 1, ['b_spec.rb', 'new_spec.rb', 'a_spec.rb'])).toEqual([20, null, 1.5]);
  });

  it('belong to one project', async () => {
    const store = temporaryStore();
    await recordTimes(store, 1, { 'a_spec.rb': 1.5 }, NOW);
    expect(secondsOf(store, 2, ['a_spec.rb'])).toEqual([null]);
  });

  it('follow the newest record', async () => {
    const store = temporaryStore();
    await recordTimes(store, 1, { 'a_spec.rb': 4, 'b_spec.rb': 4 }, NOW);
    await recordTimes(store, 1, { 'a_spec.rb': 8 }, NOW + 5000);
    const [renewed, old] = secondsOf(store, 1, ['a_spec.rb', 'b_spec.rb']);
    expect(old).toBe(4);
    expect(renewed).toBeGreaterThan(4);
    expect(renewed).toBeLessThanOrEqual(8);
  });

  it('of a large suite are all recorded, in more turns than one', async () => {
    const store = temporaryStore();
    const times = Object.fromEntries(Array.from({ length: 2 * limits.timingsPerTurn + 1 }, (_, i) => [`spec/file_${i}_spec.rb`, i + 1]));
    await recordTimes(store, 1, times, NOW);
    expect(secondsOf(store, 1, Object.keys(times))).toEqual(Object.values(times));
  });

  it('are a record a path, however often and on however many branches they are renewed', async () => {
    const store = temporaryStore();
    for (let i = 0; i < 5; i++) await recordTimes(store, 1, { 'a_spec.rb': 1 + i, 'b_spec.rb': 2 }, NOW + i);
    await store.timingBuffer.save();
    expect(store.timings.getCount()).toBe(2);
    const { id, record } = await projectOf(store);
    for (let i = 0; i < 100; i++) await record(`branch-${i}`, { 'c_spec.rb': 1 + i / 100 });
    await store.timingBuffer.save();
    expect(store.timings.getCount()).toBe(3);
    const sizes = [...store.timings.getRange()].map(({ value }) => value.length);
    expect(Math.max(...sizes)).toBeLessThan(600);
    expect(secondsOf(store, id, ['c_spec.rb'], 'branch-99')).toEqual([1.99]);
    // The default branch.
    expect(secondsOf(store, id, ['c_spec.rb'], 'branch-7')).toEqual([1]);
  });

  it('never count a 0, which was only scheduled', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', { 'a_spec.rb': 2.5, 'b_spec.rb': 0 });
    await record('main', { 'a_spec.rb': 0, 'b_spec.rb': 0 });
    expect(secondsOf(store, id, ['a_spec.rb', 'b_spec.rb'])).toEqual([2.5, null]);
  });

  it('of a run beyond the retries that are kept are not recorded', async () => {
    const store = temporaryStore();
    const key = { commit_hash: 'abc', branch: 'main', node_total: 1, node_index: 0 };
    const run = (seconds: number, at: number) => recordRun(store, 1, key, [{ path: 'a_spec.rb', time_execution: seconds }], at);
    await Promise.all(Array.from({ length: limits.runsPerNode }, (_, i) => run(2, NOW + i)));
    expect(await run(1000, NOW + 500)).toBe('retried too often');
    expect(secondsOf(store, 1, ['a_spec.rb'])).toEqual([2]);
  });
});

describe('the runs of one build', () => {
  it('count once, with the median of a path, on whichever node it ran', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', { 'a_spec.rb': 10 }, { commit: 'abc' });
    await record('main', { 'a_spec.rb': 40 }, { commit: 'abc', node_index: 1 });
    await record('main', { 'a_spec.rb': 12 }, { commit: 'abc' });
    expect(secondsOf(store, id, ['a_spec.rb'])).toEqual([12]);
  });

  it('of a retry count where it is the first of its build to measure the path', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', { a: 10, b: 10 });
    await record('main', { a: 60, b: 0 }, { commit: 'next' });
    await record('main', { a: 60, b: 30 }, { commit: 'next' });
    expect(secondsOf(store, id, ['b'])[0]).toBeGreaterThan(11);
  });

  it('count once also when a retry comes after other builds', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', { 'a_spec.rb': 10 }, { commit: 'abc' });
    await record('main', { 'a_spec.rb': 11 });
    const before = secondsOf(store, id, ['a_spec.rb']);
    await record('main', { 'a_spec.rb': 500 }, { commit: 'abc' });
    expect(secondsOf(store, id, ['a_spec.rb'])).toEqual(before);
  });

  it('count once when a run is sent again', async () => {
    const store = temporaryStore();
    const { id } = await projectOf(store);
    const key = { commit_hash: 'abc', branch: 'main', node_total: 1, node_index: 0 };
    const files = Array.from({ length: 5 }, (_, i) => ({ path: `${i}_spec.rb`, time_execution: i + 1 }));
    const timings = async () => {
      await store.timingBuffer.save();
      return [...store.timings.getRange()].map(({ value }) => decodeTimings(value).timings);
    };
    await recordRun(store, id, key, files, NOW);
    const before = await timings();
    expect(await recordRun(store, id, key, files, NOW + 1000, true)).toBe('known');
    expect(await timings()).toEqual(before);
    expect(
      secondsOf(
        store,
        id,
        files.map(({ path }) => path),
      ),
    ).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('timings of branches', () => {
  it('are taken from the own branch, else from the default branch, else from any', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', { 'a_spec.rb': 10, 'b_spec.rb': 10 });
    await record('feature', { 'a_spec.rb': 20, 'c_spec.rb': 20 });
    await record('other', { 'a_spec.rb': 30, 'c_spec.rb': 30 });
    const paths = ['a_spec.rb', 'b_spec.rb', 'c_spec.rb', 'd_spec.rb'];
    expect(secondsOf(store, id, paths, 'feature')).toEqual([20, 10, 20, null]);
    const [a, b, c, d] = secondsOf(store, id, paths, 'new');
    expect([a, b, d]).toEqual([10, 10, null]);
    expect(c).toBeGreaterThan(20);
    expect(c).toBeLessThan(30);
  });

  it.each([
    ['the only one', ['feature'], 'feature'],
    ['of a well-known name, whatever the others have', ['feature', 'feature', 'feature', 'main'], 'main'],
    ['with the most builds among well-known names', ['main', 'develop', 'develop'], 'develop'],
    ['with the most builds when no name is well-known', ['a', 'b', 'c', 'b'], 'b'],
    ['that was first when it has as many as another', ['a', 'b'], 'a'],
  ])('call that branch the default which is %s', async (_which, branches, expected) => {
    const store = temporaryStore();
    const { record } = await projectOf(store);
    expect(lmdbAccess(store).project('web')!.default_branch).toBeNull();
    for (const branch of branches) await record(branch, { 'a_spec.rb': 1 });
    expect(lmdbAccess(store).project('web')!.default_branch).toBe(expected);
  });
});

describe('test cases', () => {
  const cases = (times: number[]) => Object.fromEntries(times.map((time, i) => [`spec/a_spec.rb[1:${i + 1}]`, time]));

  it('are added up where their file is asked for and was never recorded itself', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', cases([1, 2, 4]));
    expect(secondsOf(store, id, ['spec/a_spec.rb', 'spec/a_spec', 'spec/a_spec.rb[1:2]'])).toEqual([7, null, 2]);
    await record('main', { 'spec/a_spec.rb': 9 });
    expect(secondsOf(store, id, ['spec/a_spec.rb'])).toEqual([9]);
  });

  it('are added up once, though the build ran them several times on several nodes', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', { 'spec/a_spec.rb[1:1]': 1, 'spec/a_spec.rb[1:2]': 2 }, { commit: 'abc' });
    await record('main', { 'spec/a_spec.rb[1:2]': 4, 'spec/a_spec.rb[1:3]': 5 }, { commit: 'abc', node_index: 1 });
    await record('main', { 'spec/a_spec.rb[1:1]': 3, 'spec/a_spec.rb[1:2]': 9 }, { commit: 'abc' });
    expect(secondsOf(store, id, ['spec/a_spec.rb'])).toEqual([2 + 4 + 5]);
  });

  it('of a branch that ran few of them are completed by those of others', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    const cases = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a_spec.rb[1:${i}]`, 1]));
    await record('main', cases);
    await record('feature', { 'a_spec.rb[1:3]': 5 });
    expect(secondsOf(store, id, ['a_spec.rb'], 'feature')).toEqual([24]);
    expect(secondsOf(store, id, ['a_spec.rb'], 'main')).toEqual([20]);
  });

  it('that only other branches have do not count on those that have others', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    for (let day = 0; day < 3; day++) await record('main', { 'a_spec.rb[1:1]': 10 });
    await record('feature', { 'a_spec.rb[9:9]': 10 });
    await record('main', { 'a_spec.rb[1:1]': 10 });
    expect(secondsOf(store, id, ['a_spec.rb'], 'main')).toEqual([10]);
    expect(secondsOf(store, id, ['a_spec.rb'], 'new')).toEqual([10]);
  });

  it('of other branches count where neither the own nor the default branch has any', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', { 'b_spec.rb': 1 });
    await record('feature', { 'a_spec.rb[1:1]': 10, 'a_spec.rb[1:2]': 5 });
    expect(secondsOf(store, id, ['a_spec.rb'], 'new')).toEqual([15]);
  });

  it('that are many are left to a packing thread', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', Object.fromEntries(Array.from({ length: limits.testCasesOnMainThread + 5 }, (_, i) => [`a.py::test_${i}`, 1])));
    const { estimates } = lmdbTimings(store);
    expect(estimates(id, 'main', ['a.py'], limits.testCasesOnMainThread).isComplete).toBe(false);
    expect(estimates(id, 'main', ['a.py'], limits.testCasesPerRequest).seconds).toEqual(Float64Array.of(limits.testCasesOnMainThread + 5));
  });

  it('that the last build did not have any more are not added up', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', cases([1, 1, 1, 500]));
    await record('main', cases([1, 1, 1]));
    expect(secondsOf(store, id, ['spec/a_spec.rb'])).toEqual([3]);
  });

  it('of the own branch are added up before those of others', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', cases([1, 1]));
    await record('feature', cases([2, 2]));
    expect(secondsOf(store, id, ['spec/a_spec.rb'], 'feature')).toEqual([4]);
    expect(secondsOf(store, id, ['spec/a_spec.rb'], 'new')).toEqual([2]);
  });

  it('that are new are told the time of their file', async () => {
    const store = temporaryStore();
    const { id, record } = await projectOf(store);
    await record('main', { 'spec/a_spec.rb': 12, 'test/b.py::test_one': 3 });
    const known = lmdbTimings(store).estimates(
      id,
      'main',
      ['spec/a_spec.rb[1:1]', 'spec/a_spec.rb[1:2]', 'test/b.py::test_two'],
      limits.testCasesPerRequest,
    );
    expect(known.seconds).toEqual(Float64Array.of(NaN, NaN, NaN));
    expect(known.files).toEqual(new Map([['spec/a_spec.rb', 12]]));
  });
});
