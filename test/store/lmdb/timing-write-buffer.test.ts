import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limits } from '../../../src/limits.js';
import { openLog } from '../../../src/server/log.js';
import { decodeTimings } from '../../../src/store/lmdb/codecs/timing-codec.js';
import { closeParts, openParts, type Parts } from '../../../src/store/lmdb/parts.js';
import { PathNumbers } from '../../../src/store/lmdb/path-numbers.js';
import { applyPendingRuns } from '../../../src/store/lmdb/writes/apply-times.js';
import { TimingWriteBuffer } from '../../../src/store/lmdb/writes/timing-write-buffer.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { closedAfterTest, recordRun, secondsOf, temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const key = { commit_hash: 'abc', branch: 'main', node_total: 2, node_index: 0 };
const run = (times: Record<string, number>) => Object.entries(times).map(([path, time_execution]) => ({ path, time_execution }));

/** The folder as a thread or the next process sees it: without what is not written yet. */
function asWritten(store: Parts): Parts {
  return { ...store, timingBuffer: closedAfterTest(new TimingWriteBuffer(store)) };
}

/** Nothing is written until the test says so, however slow the machine is. */
function withoutTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

describe('times that were just recorded', () => {
  it('count immediately, and are on disk after a save', async () => {
    withoutTimers();
    const store = temporaryStore();
    await recordRun(store, 1, key, run({ 'a_spec.rb': 5, 'b_spec.rb': 7 }), NOW);
    expect(secondsOf(store, 1, ['a_spec.rb', 'b_spec.rb'])).toEqual([5, 7]);
    expect(secondsOf(asWritten(store), 1, ['a_spec.rb', 'b_spec.rb'])).toEqual([null, null]);
    expect(store.pendingRuns.getCount()).toBe(1);
    await store.timingBuffer.save();
    expect(secondsOf(asWritten(store), 1, ['a_spec.rb', 'b_spec.rb'])).toEqual([5, 7]);
    expect(store.pendingRuns.getCount()).toBe(0);
  });

  it('are written after a while, including those that are added during a write', async () => {
    const store = temporaryStore();
    const paths = Array.from({ length: 1200 }, (_, i) => `spec/${i}_spec.rb`);
    const record = (commit_hash: string, seconds: number, some = paths) =>
      recordRun(
        store,
        1,
        { ...key, commit_hash },
        some.map(path => ({ path, time_execution: seconds })),
        NOW,
      );
    await record('c-1', 10);
    const saving = store.timingBuffer.save();
    await record('c-2', 20, paths.slice(0, 700));
    await saving;
    await expect.poll(() => store.pendingRuns.getCount(), { timeout: 5000 }).toBe(0);
    const written = secondsOf(asWritten(store), 1, paths);
    expect(written).toEqual(secondsOf(store, 1, paths));
    expect(written.slice(0, 700).every(seconds => seconds! > 10)).toBe(true);
    expect(written.slice(700).every(seconds => seconds === 10)).toBe(true);
  });

  it('are applied at the next start if the process was killed before they were written', async () => {
    withoutTimers();
    const store = temporaryStore();
    await recordRun(store, 1, key, run({ 'a_spec.rb': 5, 'b_spec.rb': 0 }), NOW);
    await recordRun(store, 1, { ...key, node_index: 1 }, run({ 'a_spec.rb': 9 }), NOW + 1);
    const next = asWritten(store);
    await applyPendingRuns(next, openLog('silent'));
    expect(secondsOf(next, 1, ['a_spec.rb', 'b_spec.rb'])).toEqual([7, null]);
    await next.timingBuffer.save();
    expect(store.pendingRuns.getCount()).toBe(0);
    await applyPendingRuns(next, openLog('silent'));
    expect(secondsOf(next, 1, ['a_spec.rb'])).toEqual([7]);
  });
});

it('times that one change adds in several turns are saved together', async () => {
  const store = temporaryStore();
  const { timingBuffer } = store;
  await recordRun(store, 1, key, run({ 'a_spec.rb': 5 }), NOW);
  await timingBuffer.save();
  const path = store.pathNumbers.get(1, 'a_spec.rb')!;
  await store.pendingRuns.put(1, [[1, 0, 1]]);
  const changed = timingBuffer.undivided(async () => {
    for (const build of [7, 8]) {
      timingBuffer.measure(path, 1, 1, { build, at: NOW + build, began: NOW + build, run: 'first', seconds: 9 });
      await nextTurn();
    }
    timingBuffer.markApplied(1);
  });
  await Promise.all([timingBuffer.save(), changed]);
  expect(decodeTimings(store.timings.get(path)!).timings.find(({ branch }) => branch === 1)).toMatchObject({ build: 8 });
  expect(store.pendingRuns.getCount()).toBe(0);
});

describe('the number of a path', () => {
  it('is written with its name or not at all, so that no other path has it after a kill', async () => {
    const store = temporaryStore();
    const first = store.timingBuffer.intern(1, 'a', NOW);
    // As a large suite of another run does, while this run waits for its names.
    await store.timingBuffer.save();
    expect([store.timings.getCount(), store.pathNames.getCount(), store.paths.getCount()]).toEqual([0, 0, 0]);
    await store.timingBuffer.saveNames();
    expect([store.timings.getCount(), store.pathNames.getCount(), store.paths.getCount()]).toEqual([1, 1, 1]);
    // As an older crash may have left them.
    const left = [...store.timings.getRange()][0]!.value;
    await store.timings.put(first + 5, left);
    const next = { ...store, pathNumbers: new PathNumbers(store) };
    expect(closedAfterTest(new TimingWriteBuffer(next)).intern(1, 'b', NOW)).toBe(first + 6);
  });

  it('stays the same, and is unique among projects', async () => {
    const dataDir = temporaryFolder();
    const numbers: Record<string, number>[] = [];
    for (const paths of [
      ['a', 'b'],
      ['c', 'b', 'a'],
      ['d', 'a'],
    ]) {
      const store = openParts(dataDir);
      numbers.push(Object.fromEntries(paths.map(path => [path, store.timingBuffer.intern(1, path, NOW)])));
      await store.timingBuffer.saveNames();
      await closeParts(store);
    }
    expect(numbers).toEqual([
      { a: 1, b: 2 },
      { c: 3, b: 2, a: 1 },
      { d: 4, a: 1 },
    ]);
    const store = openParts(dataDir);
    onTestFinished(() => closeParts(store));
    expect(store.timingBuffer.intern(2, 'a', NOW)).toBe(5);
  });

  it('is unique for long paths, and paths with half a surrogate pair', async () => {
    const store = temporaryStore();
    const long = 'x'.repeat(4000);
    const paths = [long, `${long}y`, `${long}[1:1]`, '\ud800', '\ud801'];
    const numbers = paths.map(path => store.timingBuffer.intern(1, path, NOW));
    expect(new Set(numbers).size).toBe(paths.length);
    await store.timingBuffer.saveNames();
    expect(store.paths.getCount()).toBe(paths.length);
    const restarted = asWritten(store);
    expect(paths.map(path => restarted.timingBuffer.intern(1, path, NOW))).toEqual(numbers);
    expect(numbers.map(number => JSON.parse(store.pathNames.get(number)!) as string)).toEqual(paths);
  });

  it('is written early if new paths take much memory', async () => {
    const store = temporaryStore();
    const long = 'x'.repeat(limits.pathMaxCharacters - 10);
    let count = 0;
    // A path and its key.
    for (let characters = 0; characters < limits.unsavedPathCharacters; characters += long.length)
      store.timingBuffer.intern(1, `${long}${count++}`, NOW);
    expect(count).toBeLessThan(limits.bufferedTimings);
    expect(store.pathNames.getCount()).toBe(0);
    await store.timingBuffer.makeRoom();
    expect(store.pathNames.getCount()).toBe(count);
  });
});
