import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limits } from '../../../../src/protocol/limits.js';
import { decodeTimings } from '../../../../src/server/store/codecs/timing-codec.js';
import { closeParts, openParts, type Parts } from '../../../../src/server/store/lmdb/parts.js';
import { PathNumbers } from '../../../../src/server/store/lmdb/path-numbers.js';
import { lmdbTimings } from '../../../../src/server/store/lmdb/timings.js';
import {
  BUFFERED_TIMINGS,
  TimingWriteBuffer,
  UNSAVED_PATH_CHARACTERS,
} from '../../../../src/server/store/lmdb/writes/timing-write-buffer.js';
import { memoryStore } from '../../../harness/memory-store.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { NOW, record, secondsOf } from '../contract/fixtures.js';
import { closedAfterTest, temporaryStore } from './temporary-store.js';

/** The folder as a thread or the next process sees it: without what is not written yet. */
function asWritten(parts: Parts): Parts {
  return { ...parts, timingBuffer: closedAfterTest(new TimingWriteBuffer(parts)) };
}

const secondsIn = (parts: Parts, paths: readonly string[]) => secondsOf({ timings: lmdbTimings(parts) }, 1, paths);

/** Nothing is written until the test says so, however slow the machine is. */
function withoutTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

describe('times that were just recorded', () => {
  const PATHS = ['a_spec.rb', 'b_spec.rb'];

  it('count immediately, and are on disk after a save', async () => {
    withoutTimers();
    const store = memoryStore();
    const { timingBuffer, pendingRuns } = store.parts;
    await record(store, 1, { 'a_spec.rb': 5, 'b_spec.rb': 7 });
    expect(await secondsOf(store, 1, PATHS)).toEqual([5, 7]);
    expect(await secondsIn(asWritten(store.parts), PATHS)).toEqual([null, null]);
    expect(pendingRuns.getCount()).toBe(1);
    await timingBuffer.save();
    expect(await secondsIn(asWritten(store.parts), PATHS)).toEqual([5, 7]);
    expect(pendingRuns.getCount()).toBe(0);
  });

  it('are written before a thread reads those of the project, and not when it reads those of another one', async () => {
    withoutTimers();
    const store = memoryStore();
    await record(store, 1, { 'a_spec.rb': 5, 'b_spec.rb': 7 });
    await store.maintenance.publish('timings', 2);
    expect(await secondsIn(asWritten(store.parts), PATHS)).toEqual([null, null]);
    await store.maintenance.publish('timings', 1);
    expect(await secondsIn(asWritten(store.parts), PATHS)).toEqual([5, 7]);
  });

  it('are on disk after a save that ends with paths whose numbers are not', async () => {
    withoutTimers();
    const store = memoryStore();
    const { timingBuffer, timings } = store.parts;
    await record(store, 1, { 'a_spec.rb': 5 });
    await store.maintenance.publish('timings', 1);
    const known = timingBuffer.intern(1, 'a_spec.rb', NOW + 1);
    timingBuffer.intern(1, 'new_spec.rb', NOW + 1);
    await timingBuffer.save();
    expect(decodeTimings(timings.getBinary(known)!).seen_at).toBe(NOW + 1);
  });

  it('are written after a while, including those that are added during a write', async () => {
    const store = memoryStore();
    const paths = Array.from({ length: 1200 }, (_, i) => `spec/${i}_spec.rb`);
    const recordAll = async (commit_hash: string, seconds: number, some = paths) => {
      await record(store, 1, Object.fromEntries(some.map(path => [path, seconds])), { commit_hash });
      await store.parts.runs.settle();
    };
    await recordAll('c-1', 10);
    const saving = store.parts.timingBuffer.save();
    await recordAll('c-2', 20, paths.slice(0, 700));
    await saving;
    await expect.poll(() => store.parts.pendingRuns.getCount(), { timeout: 5000 }).toBe(0);
    const written = await secondsIn(asWritten(store.parts), paths);
    expect(written).toEqual(await secondsOf(store, 1, paths));
    expect(written.slice(0, 700).every(seconds => seconds! > 10)).toBe(true);
    expect(written.slice(700).every(seconds => seconds === 10)).toBe(true);
  });
});

it('times that one change adds in several turns are saved together', async () => {
  const store = memoryStore();
  const { timingBuffer, pathNumbers, pendingRuns, timings } = store.parts;
  await record(store, 1, { 'a_spec.rb': 5 });
  await store.parts.runs.settle();
  await timingBuffer.save();
  const path = pathNumbers.get(1, 'a_spec.rb')!;
  await pendingRuns.put(1, [[1, 0, 1]]);
  const changed = timingBuffer.undivided(async () => {
    for (const build of [7, 8]) {
      timingBuffer.measure(path, 1, 1, { build, at: NOW + build, began: NOW + build, run: 'first', seconds: 9 });
      await nextTurn();
    }
    timingBuffer.markApplied(1);
  });
  await Promise.all([timingBuffer.save(), changed]);
  expect(decodeTimings(timings.get(path)!).timings.find(({ branch }) => branch === 1)).toMatchObject({ build: 8 });
  expect(pendingRuns.getCount()).toBe(0);
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
    for (let characters = 0; characters < UNSAVED_PATH_CHARACTERS; characters += long.length)
      store.timingBuffer.intern(1, `${long}${count++}`, NOW);
    expect(count).toBeLessThan(BUFFERED_TIMINGS);
    expect(store.pathNames.getCount()).toBe(0);
    await store.timingBuffer.makeRoom();
    expect(store.pathNames.getCount()).toBe(count);
  });
});
