import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Batch } from '../../../../src/server/engine/queue/batch.js';
import { openLog } from '../../../../src/server/process/log.js';
import { encodeChange } from '../../../../src/server/store/codecs/queue-changes.js';
import { serveFolder } from '../../../../src/server/store/lmdb/folder/serve-folder.js';
import type { Parts } from '../../../../src/server/store/lmdb/parts.js';
import { batchesOf } from '../../../../src/server/store/lmdb/plans/read-queue.js';
import type { QueueRecord } from '../../../../src/server/store/lmdb/records.js';
import { STORE_FILE } from '../../../../src/server/store/lmdb/tables.js';
import { JOURNAL_FILES } from '../../../../src/server/store/lmdb/writes/journal-files.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { afterKill, newJournal, recordsByTable, temporaryStore, withPut } from './temporary-store.js';

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
    expect(store.journal.recordsWaiting).toBe(1);
    expect(recordsByTable(store)).toMatchObject({ batches: 0 });
    expect(filesOf(store, 'b')).toEqual([[1]]);
  });

  it('has one record for all batches of a queue after a checkpoint', async () => {
    const store = temporaryStore();
    for (let seq = 0; seq < 5; seq++) {
      store.journal.write('a', batch(seq));
      await store.journal.write('b', batch(seq));
    }
    await store.journal.checkpoint();
    expect(recordsByTable(store)).toMatchObject({ batches: 2 });
    expect(store.journal.recordsWaiting).toBe(0);
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
    const inForce = () => batchesOf(store, 'a').map(({ seq, delivered }) => `${seq} ${delivered}`);
    const expected = ['0 false', '1 true', '3 false'];
    expect(inForce()).toEqual(expected);
    await store.journal.checkpoint();
    expect(inForce()).toEqual(expected);
  });

  it('recovers the changes of a killed process at the next start', async () => {
    const store = temporaryStore();
    await store.journal.write('a', batch(0));
    await store.journal.checkpoint();
    await store.journal.write('a', batch(1));
    const next = afterKill(store);
    await next.journal.checkpoint();
    expect(next.journal.recordsWaiting).toBe(0);
    expect(recordsByTable(store)).toMatchObject({ batches: 2 });
    expect(filesOf(next, 'a')).toEqual([[0], [1]]);
    await next.journal.write('a', batch(2));
    await next.journal.checkpoint();
    expect(filesOf(next, 'a')).toEqual([[0], [1], [2]]);
  });

  it('has each change once when a process is killed during a checkpoint', async () => {
    const store = temporaryStore();
    for (const seq of [0, 1]) await store.journal.write('a', batch(seq));
    // The changes are written by queue, and the checkpoint is not marked as done.
    await store.batches.put(['a', 2], [batch(0), batch(1)].map(encodeChange));
    const second = afterKill(store);
    await second.journal.checkpoint();
    expect(filesOf(second, 'a')).toEqual([[0], [1]]);
    // It is marked as done, and the file still has the records: later changes stay in force.
    await store.batches.put(['a', 3], [encodeChange(1)]);
    await store.meta.put('checkpoint', 3);
    const third = afterKill(store);
    expect(filesOf(third, 'a')).toEqual([[0]]);
    await third.journal.write('a', batch(4));
    await third.journal.checkpoint();
    expect(filesOf(third, 'a')).toEqual([[0], [4]]);
  });

  it('keeps the changes that a checkpoint could not write, and writes them in the next one', async () => {
    const store = temporaryStore();
    const { batches } = store;
    const failing: { -readonly [K in keyof Parts]: Parts[K] } = {
      ...store,
      batches: withPut(batches, () => Promise.reject(new Error('full'))),
    };
    const journal = newJournal(failing);
    await journal.write('a', batch(0));
    await expect(journal.checkpoint()).rejects.toThrow('full');
    await journal.write('a', batch(1));
    expect(filesOf({ ...store, journal }, 'a')).toEqual([[0], [1]]);
    failing.batches = batches;
    await journal.checkpoint();
    expect(recordsByTable(store)).toMatchObject({ batches: 1 });
    expect(filesOf({ ...store, journal }, 'a')).toEqual([[0], [1]]);
  });
});

describe('a backup of a store', () => {
  const change = (seq: number, handed_at: number): Batch => ({ ...batch(seq), handed_at });

  it.each<[situation: string, between: (store: Parts) => Promise<void>]>([
    ['nothing else', async () => {}],
    ['a checkpoint', store => store.journal.checkpoint()],
    [
      'a checkpoint of later changes',
      async store => {
        await store.journal.write('a', change(1, 5));
        await store.journal.checkpoint();
      },
    ],
    [
      'two checkpoints',
      async store => {
        await store.journal.checkpoint();
        await store.journal.write('a', change(1, 5));
        await store.journal.checkpoint();
      },
    ],
  ])('has the changes of the journal when %s came before the copy', async (_, between) => {
    const store = temporaryStore();
    await store.queues.put('a', {} as QueueRecord);
    await store.journal.write('a', change(0, 1));
    await store.journal.checkpoint();
    store.journal.write('a', change(1, 2));
    await store.journal.write('a', change(2, 3));
    const reader = newJournal(store);
    reader.read();
    await between(store);
    const folder = temporaryFolder();
    await store.root.backup(join(folder, STORE_FILE), true);
    const times = batchesOf(store, 'a').map(({ seq, handed_at }) => [seq, handed_at]);

    const copy = temporaryStore(folder);
    await reader.complete(copy);
    const later = afterKill(copy);
    expect(batchesOf(later, 'a').map(({ seq, handed_at }) => [seq, handed_at])).toEqual(times);
  });

  it('has no changes of queues that expired meanwhile', async () => {
    const store = temporaryStore();
    await store.journal.write('a', batch(0));
    const reader = newJournal(store);
    reader.read();
    const copy = temporaryStore();
    await reader.complete(copy);
    expect(recordsByTable(copy).batches).toBe(0);
  });

  it('has a journal of its own: records of the store that are in its folder are not its own', async () => {
    const store = temporaryStore();
    await store.journal.write('a', batch(0));
    const folder = temporaryFolder();
    await store.root.backup(join(folder, STORE_FILE), true);
    const reader = newJournal(store);
    reader.read();
    const copy = temporaryStore(folder);
    await reader.complete(copy);
    await copy.root.close();
    await store.journal.write('a', batch(1));
    for (const name of JOURNAL_FILES) cpSync(join(store.journal.files.folder, name), join(folder, name));
    const served = await serveFolder(folder, openLog('silent'));
    expect(served.parts.journal.recordsWaiting).toBe(0);
    await served.parts.journal.write('a', batch(2));
    expect(served.parts.journal.pendingOf('a').map(change => (change as Batch).seq)).toEqual([2]);
    await served.close();
  });
});
