import { readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BLOCK_BYTES, encodeHead, encodeRecord } from '../../../../src/server/store/lmdb/codecs/journal-record.js';
import {
  JournalFiles,
  KEPT_JOURNAL_FILE_BYTES,
  readJournal,
  type WriteBytes,
} from '../../../../src/server/store/lmdb/writes/journal-files.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { JOURNAL, openJournal, pathsOf, readPayloads, withHead, writeFiles } from './journal-folder.js';
import { nextTurns } from './temporary-store.js';

/** Writes that end only when they are let go, one at a time. */
function heldWrites() {
  const waiting: (() => void)[] = [];
  const write: WriteBytes = (file, bytes, from, length, at) =>
    new Promise(resolve => waiting.push(() => resolve({ bytesWritten: writeSync(file, bytes, from, length, at) })));
  const release = async () => {
    waiting.shift()!();
    await nextTurns();
  };
  return { write, release, waiting };
}

/** A file with records of these numbers, one block each. */
const fileOf = (...numbers: number[]) =>
  Buffer.concat(numbers.map(number => encodeRecord(JOURNAL, number, [Buffer.from('x')], Buffer.alloc(0))));
const damaged = Buffer.alloc(BLOCK_BYTES, 1);

describe('the files of the journal', () => {
  it('have each payload when its promise resolves; what is appended during a write is the next record', async () => {
    const folder = temporaryFolder();
    const { write, release, waiting } = heldWrites();
    const files = openJournal(folder, 0, write);
    const numbers = ['a', 'b', 'c'].map(payload => files.append(Buffer.from(payload)));
    // The first write makes the file larger.
    await release();
    expect(readPayloads(folder)).toEqual([]);
    await release();
    expect(await numbers[0]).toBe(1);
    expect(readPayloads(folder)).toEqual(['1: a']);
    await release();
    expect(await Promise.all(numbers)).toEqual([1, 2, 2]);
    expect(readPayloads(folder)).toEqual(['1: a', '2: b c']);
    expect(waiting).toEqual([]);
  });

  it('are readable by their owner only', () => {
    const folder = temporaryFolder();
    openJournal(folder);
    for (const path of pathsOf(folder)) expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('are used in turn: a file is overwritten only when its records were released', async () => {
    const folder = temporaryFolder();
    const files = openJournal(folder);
    const sizes = () => pathsOf(folder).map(path => recordsInFile(readFileSync(path)));
    await files.append(Buffer.from('a'));
    files.alternate();
    await files.append(Buffer.from('b'));
    // The first file has record 1, which is still needed.
    files.alternate();
    await files.append(Buffer.from('c'));
    expect(sizes()).toEqual([1, 2]);
    files.release(1);
    files.alternate();
    await files.append(Buffer.from('d'));
    expect(readPayloads(folder, 1)).toEqual(['2: b', '3: c', '4: d']);
    expect(sizes()).toEqual([1, 2]);
  });

  it('may be exchanged while a write is under way', async () => {
    const folder = temporaryFolder();
    const { write, release } = heldWrites();
    const files = openJournal(folder, 0, write);
    const first = files.append(Buffer.from('a'));
    files.alternate();
    const second = files.append(Buffer.from('b'));
    // The first file has a record under way, so it stays in use.
    files.alternate();
    for (let writes = 0; writes < 4; writes++) await release();
    expect(await Promise.all([first, second])).toEqual([1, 2]);
    expect(pathsOf(folder).map(path => recordsInFile(readFileSync(path)))).toEqual([1, 1]);
    expect(readPayloads(folder)).toEqual(['1: a', '2: b']);
  });

  it('are written in as many calls as the system takes', async () => {
    const folder = temporaryFolder();
    const files = openJournal(folder, 0, async (file, bytes, from, length, at) => ({
      bytesWritten: writeSync(file, bytes, from, Math.min(length, 300_000), at),
    }));
    const payload = 'long '.repeat(200_000);
    await files.append(Buffer.from(payload));
    expect(readPayloads(folder)).toEqual([`1: ${payload}`]);
  });

  it('are cut when they are used again after a burst', async () => {
    const folder = temporaryFolder();
    const [first] = pathsOf(folder) as [string, string];
    writeFiles(folder, fileOf(), fileOf());
    truncateSync(first, 2 * KEPT_JOURNAL_FILE_BYTES);
    const files = openJournal(folder);
    await files.append(Buffer.from('a'));
    expect(statSync(first).size).toBe(KEPT_JOURNAL_FILE_BYTES);
    expect(readPayloads(folder)).toEqual(['1: a']);
  });

  it('refuse everything after a write failed, and tell of it once', async () => {
    const told: string[] = [];
    const failure = { end: (error: Error) => void told.push(error.message) };
    const full = Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' });
    const files = new JournalFiles(temporaryFolder(), failure, () => Promise.reject(full));
    files.open(JOURNAL, 0, []);
    onTestFinished(() => files.close());
    const appended = await Promise.allSettled(['a', 'b'].map(payload => files.append(Buffer.from(payload))));
    appended.push(...(await Promise.allSettled([files.append(Buffer.from('c'))])));
    for (const result of appended) expect(result).toMatchObject({ status: 'rejected', reason: { reason: 'disk' } });
    expect(told).toEqual(['ENOSPC while writing the journal']);
  });
});

describe('a journal that is read', () => {
  it.each<[state: string, first: Buffer, second: Buffer, released: number, expected: number[]]>([
    ['empty', fileOf(), fileOf(), 0, []],
    ['in the first file', fileOf(1, 2), fileOf(), 0, [1, 2]],
    ['in the second file', fileOf(1, 2), fileOf(3, 4), 2, [3, 4]],
    ['in both files', fileOf(4, 5, 6), fileOf(7, 8), 4, [5, 6, 7, 8]],
    ['in both files, the second first', fileOf(7, 8), fileOf(4, 5, 6), 3, [4, 5, 6, 7, 8]],
    ['released', fileOf(1, 2), fileOf(3, 4), 4, []],
    ['released beyond its end', fileOf(1, 2), fileOf(3, 4), 9, []],
    ['followed by records of an earlier use', fileOf(7, 2, 3), fileOf(4, 5, 6), 3, [4, 5, 6, 7]],
    ['torn at its end', Buffer.concat([fileOf(5, 6), damaged]), fileOf(1, 2, 3, 4), 4, [5, 6]],
    ['torn at the begin of a file, over an earlier use', Buffer.concat([damaged, fileOf(2, 3)]), fileOf(4, 5), 3, [4, 5]],
  ])('has the records that are needed when it is %s', (_, first, second, released, expected) => {
    const folder = temporaryFolder();
    writeFiles(folder, first, second);
    expect(readJournal(folder, JOURNAL, () => released).map(({ number }) => number)).toEqual(expected);
  });

  it.each<[state: string, first: Buffer, second: Buffer, released: number, missing: number]>([
    ['a record is damaged and later ones are intact', Buffer.concat([fileOf(5), damaged, fileOf(7, 8)]), fileOf(), 4, 6],
    ['the last record of a file is damaged and the other file goes on', Buffer.concat([fileOf(5), damaged]), fileOf(7), 4, 6],
    ['the first needed record is damaged', Buffer.concat([damaged, fileOf(6)]), fileOf(), 4, 5],
  ])('is refused with advice when %s', (_, first, second, released, missing) => {
    const folder = temporaryFolder();
    writeFiles(folder, first, second);
    expect(() => readJournal(folder, JOURNAL, () => released)).toThrow(
      `cannot read the journal in ${folder}: record ${missing} is missing in journal-0 and journal-1, and later ones are there; ` +
        'restore a backup, or delete journal-0 and journal-1 to go on without the last changes of queues and the last recorded runs',
    );
  });

  it.each<[state: string, damage: (path: string) => void]>([
    ['is missing', path => rmSync(path)],
    ['is emptied', path => truncateSync(path)],
    ['is cut within its head', path => truncateSync(path, 20)],
    ['has zeros only', path => writeFileSync(path, Buffer.alloc(statSync(path).size))],
    ['is that of another journal', path => writeFileSync(path, Buffer.concat([encodeHead(JOURNAL + 1), fileOf(5, 6)]))],
  ])('is refused when one of its files %s, whichever has records that are needed', (_, damage) => {
    for (const lost of [0, 1]) {
      for (const [first, second] of [
        [fileOf(5, 6), fileOf(3, 4)],
        [fileOf(7), fileOf(5, 6)],
        [fileOf(1), fileOf()],
      ] as const) {
        const folder = temporaryFolder();
        writeFiles(folder, first, second);
        damage(pathsOf(folder)[lost]!);
        expect(() => openJournal(folder, 4)).toThrow(
          `cannot read the journal in ${folder}: journal-${lost} is missing or is not the file that was written; restore a backup, or delete`,
        );
      }
    }
  });

  it('has no records when somebody deleted both of its files', async () => {
    const folder = temporaryFolder();
    const files = openJournal(folder, 4);
    expect(await files.append(Buffer.from('a'))).toBe(5);
    expect(readPayloads(folder, 4)).toEqual(['5: a']);
  });

  it('is read again when a server overwrote a file between the two', () => {
    const folder = temporaryFolder();
    const [first] = pathsOf(folder) as [string, string];
    writeFiles(folder, fileOf(1, 2), fileOf(6, 7));
    let looks = 0;
    const released = () => {
      looks += 1;
      writeFileSync(first, withHead(fileOf(3, 4, 5)));
      return 2;
    };
    expect(readJournal(folder, JOURNAL, released).map(({ number }) => number)).toEqual([3, 4, 5, 6, 7]);
    expect(looks).toBe(2);
  });

  it('goes on where it ended: a torn record is overwritten, and nothing is lost at the next start', async () => {
    const folder = temporaryFolder();
    writeFiles(folder, Buffer.concat([fileOf(5, 6), damaged, damaged]), fileOf(3, 4));
    // Both files have records that are needed.
    const files = openJournal(folder, 3);
    expect(await files.append(Buffer.from('a'))).toBe(7);
    files.alternate();
    expect(await files.append(Buffer.from('b'))).toBe(8);
    expect(readPayloads(folder, 3)).toEqual(['4: x', '5: x', '6: x', '7: a', '8: b']);
  });
});

/** The number of blocks behind the head that are not zero: each record of these tests takes one. */
function recordsInFile(file: Buffer): number {
  let records = 0;
  for (let at = BLOCK_BYTES; at < file.length; at += BLOCK_BYTES)
    if (file.subarray(at, at + BLOCK_BYTES).some(byte => byte !== 0)) records += 1;
  return records;
}
