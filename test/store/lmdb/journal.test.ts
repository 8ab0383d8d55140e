import { describe, expect, it } from 'vitest';
import type { Batch } from '../../../src/engine/queue/batch.js';
import { encodeBatch } from '../../../src/store/lmdb/codecs/batch-codec.js';
import { batchesOf } from '../../../src/store/lmdb/open-queue.js';
import type { Parts } from '../../../src/store/lmdb/parts.js';
import { Journal } from '../../../src/store/lmdb/writes/journal.js';
import { afterKill, closedAfterTest, nextTurns, recordsByTable, temporaryStore, withPut } from './temporary-store.js';

const batch = (seq: number, files = [seq]): Batch => ({
  seq,
  node_index: 0,
  run: 'run',
  batch_uuid: `u-${seq}`,
  handed_at: 0,
  files,
  isFirstRequest: false,
  isReplay: false,
  build_subset_id: null,
  decision: null,
  delivered: false,
});

const filesOf = (store: Parts, queue: string) => batchesOf(store, queue).map(({ files }) => files);

describe('the journal', () => {
  it('writes the changes of many queues in one turn as one record', async () => {
    const store = temporaryStore();
    const turns = ['a', 'b', 'c'].map((queue, seq) => store.journal.write(queue, batch(seq)));
    await Promise.all(turns);
    expect(recordsByTable(store)).toMatchObject({ journalTurns: 1, batches: 0 });
    expect(filesOf(store, 'b')).toEqual([[1]]);
  });

  it('has one record for all batches of a queue after a checkpoint', async () => {
    const store = temporaryStore();
    for (let seq = 0; seq < 5; seq++) {
      store.journal.write('a', batch(seq));
      await store.journal.write('b', batch(seq));
    }
    await store.journal.checkpoint();
    expect(recordsByTable(store)).toMatchObject({ journalTurns: 0, batches: 2 });
    expect(store.journal.pendingOf('a')).toEqual([]);
    expect(filesOf(store, 'a')).toEqual([[0], [1], [2], [3], [4]]);
  });

  it.each([
    ['after a checkpoint', true],
    ['before a checkpoint', false],
  ])('has the last change of each batch, written %s', async (_, isAfterCheckpoint) => {
    const store = temporaryStore();
    for (const seq of [0, 1, 2]) store.journal.write('a', batch(seq));
    await store.journal.write('a', batch(3));
    if (isAfterCheckpoint) await store.journal.checkpoint();
    store.journal.write('a', { ...batch(1), delivered: true });
    await store.journal.write('a', 2);
    const inForce = () => batchesOf(store, 'a').map(({ seq, delivered }) => [seq, delivered]);
    expect(inForce()).toEqual([
      [0, false],
      [1, true],
      [3, false],
    ]);
    await store.journal.checkpoint();
    expect(inForce()).toEqual([
      [0, false],
      [1, true],
      [3, false],
    ]);
  });

  it('recovers the changes of a killed process at the next start', async () => {
    const store = temporaryStore();
    await store.journal.write('a', batch(0));
    await store.journal.checkpoint();
    await store.journal.write('a', batch(1));
    const next = afterKill(store);
    await next.journal.checkpoint();
    expect(recordsByTable(store)).toMatchObject({ journalTurns: 0, batches: 2 });
    expect(filesOf(next, 'a')).toEqual([[0], [1]]);
    await next.journal.write('a', batch(2));
    await next.journal.checkpoint();
    expect(filesOf(next, 'a')).toEqual([[0], [1], [2]]);
  });

  it('has each change once, whenever a process is killed during a checkpoint', async () => {
    const store = temporaryStore();
    for (const seq of [0, 1]) await store.journal.write('a', batch(seq));
    // The changes are written by queue, and the turns are not removed yet.
    await store.batches.put(['a', 2], [encodeBatch(batch(0)), encodeBatch(batch(1))]);
    const second = afterKill(store);
    await second.journal.checkpoint();
    expect(filesOf(second, 'a')).toEqual([[0], [1]]);

    // The checkpoint is marked as done, and one turn is not removed yet: later changes stay in force.
    await store.batches.put(['a', 3], [1]);
    await store.meta.put('checkpoint', 3);
    await store.journalTurns.put(2, [['a', encodeBatch(batch(1))]]);
    const third = afterKill(store);
    expect(filesOf(third, 'a')).toEqual([[0]]);
    await third.journal.write('a', batch(4));
    await third.journal.checkpoint();
    expect(recordsByTable(store).journalTurns).toBe(0);
    expect(filesOf(third, 'a')).toEqual([[0], [4]]);
  });

  it('rejects all changes that were made before a failure was known', async () => {
    const store = temporaryStore();
    let fail = (_: Error) => {};
    const { journalTurns } = store;
    const put = () => new Promise<boolean>((_, reject) => (fail = reject));
    const failing: { -readonly [K in keyof Parts]: Parts[K] } = { ...store, journalTurns: withPut(journalTurns, put) };
    const journal = closedAfterTest(new Journal(failing));
    const first = journal.write('a', batch(0));
    await nextTurns();
    failing.journalTurns = journalTurns;
    const second = journal.write('a', batch(1));
    fail(new Error('MDB_MAP_FULL'));
    await expect(first).rejects.toMatchObject({ status: 503 });
    await expect(second).rejects.toMatchObject({ status: 503 });
    await journal.write('a', batch(2));
    // The turn after the failed one is on disk all the same: its node retries, and gets the same batch.
    expect(journal.pendingOf('a').map(change => (change as Batch).seq)).toEqual([1, 2]);
  });

  it('keeps the changes that a checkpoint could not write, and writes them in the next one', async () => {
    const store = temporaryStore();
    const { batches } = store;
    const failing: { -readonly [K in keyof Parts]: Parts[K] } = {
      ...store,
      batches: withPut(batches, () => Promise.reject(new Error('full'))),
    };
    const journal = closedAfterTest(new Journal(failing));
    await journal.write('a', batch(0));
    await expect(journal.checkpoint()).rejects.toThrow('full');
    await journal.write('a', batch(1));
    expect(filesOf({ ...store, journal }, 'a')).toEqual([[0], [1]]);
    failing.batches = batches;
    await journal.checkpoint();
    expect(recordsByTable(store)).toMatchObject({ journalTurns: 0, batches: 1 });
    expect(filesOf({ ...store, journal }, 'a')).toEqual([[0], [1]]);
  });
});
