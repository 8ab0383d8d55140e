import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { openLog } from '../../../../src/server/process/log.js';
import { JOURNALED_RUN_FILES } from '../../../../src/server/store/lmdb/recordings.js';
import { openLmdbStore } from '../../../../src/server/store/lmdb/store.js';
import { applyPendingRuns } from '../../../../src/server/store/lmdb/writes/apply-times.js';
import { memoryStore } from '../../../harness/memory-store.js';
import { memoryFolder } from '../../../harness/temporary-folder.js';
import { buildsOf, files, record, secondsOf } from '../contract/fixtures.js';

const LARGE = JOURNALED_RUN_FILES + 1;

function reopenable() {
  const folder = memoryFolder();
  const open = () => openLmdbStore(folder, { queues: { pullCost: 0, lease: null, cacheBytes: 1e6 } });
  return { store: open(), open };
}

it('large runs of a project are recorded one after another', async () => {
  const store = memoryStore();
  const ended: string[] = [];
  const recorded = async (name: string, count: number, node_index: number) => {
    expect(await record(store, 1, files(count), { node_index })).toBe('recorded');
    ended.push(name);
  };
  await Promise.all([recorded('larger', 3 * LARGE, 0), recorded('next', LARGE, 1)]);
  expect(ended).toEqual(['larger', 'next']);
});

it('a large run waits for those of its own project only', async () => {
  const store = memoryStore();
  let end = () => {};
  store.parts.largeRuns.set(1, new Promise<void>(resolve => (end = resolve)));
  const waiting = record(store, 1, files(LARGE));
  expect(await record(store, 2, files(LARGE))).toBe('recorded');
  expect(await buildsOf(store, 1)).toEqual([]);
  end();
  expect(await waiting).toBe('recorded');
});

it('a large run is not recorded when its client left while others of its project were', async () => {
  const store = memoryStore();
  const first = record(store, 1, files(LARGE));
  const next = record(store, 1, files(LARGE), { node_index: 1, hasLeft: () => true });
  await expect(next).rejects.toMatchObject({ message: 'the run waited for too long; try again', reason: 'busy' });
  expect(await first).toBe('recorded');
  expect(await record(store, 1, files(LARGE), { node_index: 1 })).toBe('recorded');
});

it('a large run that is in the tables when the store begins to close is recorded, and its times count after the next start', async () => {
  const { store, open } = reopenable();
  const buffer = store.parts.timingBuffer;
  vi.spyOn(buffer, 'measure').mockImplementationOnce(() => buffer.end());
  expect(await record(store, 1, files(LARGE))).toBe('recorded');
  await store.close();
  const next = open();
  await applyPendingRuns(next.parts, openLog('silent'));
  expect(await secondsOf(next, 1, Object.keys(files(1)))).toEqual(Object.values(files(1)));
  await next.close();
});

it('a large run that is being recorded when the store is closed is refused, and those before it are kept', async () => {
  const { store, open } = reopenable();
  await record(store, 1, { 'a_spec.rb': 5 });
  const runs = [0, 1, 2].map(node_index => record(store, 2, files(LARGE), { node_index }));
  const refused = runs.map(run => expect(run).rejects.toMatchObject({ message: 'the server is stopping; try again', reason: 'busy' }));
  await store.close();
  await Promise.all(refused);
  const next = open();
  expect(await secondsOf(next, 1, ['a_spec.rb'])).toEqual([5]);
  expect(await record(next, 2, files(LARGE))).toBe('recorded');
  await next.close();
});

// Of so many turns, some are in each step of a recording.
it.each([0, 10, 20, 30, 40, 60, 80])('runs have ended when the store is closed, %i turns after they began to be recorded', async turns => {
  const { store, open } = reopenable();
  const ended: string[] = [];
  const recorded = ['a', 'b', 'c'].map(commit_hash =>
    record(store, 1, filesOf(commit_hash, JOURNALED_RUN_FILES), { commit_hash }).then(
      outcome => ended.push(outcome),
      (error: Error) => ended.push(error.message),
    ),
  );
  for (let turn = 0; turn < turns; turn++) await nextTurn();
  await store.close();
  expect(ended).toHaveLength(recorded.length);
  const kept = ended.filter(outcome => outcome === 'recorded').length;
  expect(ended.filter(outcome => outcome === 'the server is stopping; try again')).toHaveLength(recorded.length - kept);
  await expect(record(store, 1, { 'late_spec.rb': 1 })).rejects.toMatchObject({ message: 'the server is stopping; try again' });
  const next = open();
  next.parts.journal.recover();
  expect(await buildsOf(next, 1)).toHaveLength(kept);
  await next.close();
});

const filesOf = (folder: string, count: number) =>
  Object.fromEntries(Object.entries(files(count)).map(([path, seconds]) => [`${folder}/${path}`, seconds]));
