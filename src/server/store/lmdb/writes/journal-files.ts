import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncate,
  openSync,
  readFileSync,
  readSync,
  write,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fsyncPath } from '../../../../base/fsync.js';
import { refusals } from '../../../engine/refusal.js';
import { BLOCK_BYTES, encodeHead, encodeRecord, hasHead, type JournalRecord, recordsIn } from '../codecs/journal-record.js';
import type { Failure } from './failure.js';

/** A file of the journal grows by this much. */
const JOURNAL_FILE_STEP_BYTES = 1_048_576;
/** A file of the journal that grew in a burst is cut to this size when it is used again. */
export const KEPT_JOURNAL_FILE_BYTES = 16_777_216;

/** The files of the journal. Both have records only until a checkpoint. */
export const JOURNAL_FILES = ['journal-0', 'journal-1'] as const;

/** A write to a file that was opened with O_DSYNC is flushed when it ends. On macOS it may still be in the cache of the disk. */
const IS_FLUSHED_BY_WRITE = process.platform === 'linux';
const FLAGS = constants.O_RDWR | constants.O_CREAT | (IS_FLUSHED_BY_WRITE ? constants.O_DSYNC : 0);

/** Attempts to read the files while a server writes them. */
const READ_ATTEMPTS = 5;

/** Larger records get a buffer of their own. */
const ROOM_BYTES = 65_536;

const writeBytes: WriteBytes = promisify(write);
const flush = promisify(fdatasync);
const truncate = promisify(ftruncate);

/** As `fs.write`: it may write fewer bytes. */
export type WriteBytes = (file: number, bytes: Buffer, from: number, length: number, at: number) => Promise<{ bytesWritten: number }>;

interface OpenFile {
  descriptor: number;
  bytes: number;
  /** Offset of its next record. */
  end: number;
  /** The number of its last record; 0: it has none. */
  last: number;
}

/** A record that waits until the one before it is on disk. */
interface Waiting {
  payloads: Uint8Array[];
  written: Promise<number>;
  resolve: (number: number) => void;
  reject: (error: unknown) => void;
}

/**
 * The journal: numbered records of bytes in two files that are overwritten in turn. One write is under way at a time; what is appended
 * meanwhile becomes the next record. A failed write ends the process, see failure.ts.
 */
export class JournalFiles {
  #journal = 0;
  #files: OpenFile[] = [];
  #current = 0;
  #last = 0;
  /** Records up to this number are needed no longer. */
  #released = 0;
  #waiting: Waiting | null = null;
  #isWriting = false;
  #error: Error | null = null;
  #written = 0;
  /** For the record that is being written. */
  readonly #room = Buffer.allocUnsafe(ROOM_BYTES);

  constructor(
    readonly folder: string,
    readonly failure: Pick<Failure, 'end'>,
    readonly write: WriteBytes = writeBytes,
  ) {}

  get isOpen(): boolean {
    return this.#files.length > 0;
  }

  /** The bytes of all records that were written since the files were opened. */
  get written(): number {
    return this.#written;
  }

  /**
   * Opens the files to append records after the last one. Files without a head get one. Only the process that serves the folder may do
   * that. Throws a sentence when it fails.
   *
   * @param journal its id, as in `readJournal`
   * @param last the number of the last record that exists or existed
   * @param records those that are still needed
   */
  open(journal: number, last: number, records: readonly FoundRecord[]): void {
    this.#journal = journal;
    this.#last = last;
    this.#released = last - records.length;
    this.#files = JOURNAL_FILES.map(name => openFile(this.folder, name, journal));
    fsyncPath(this.folder);
    for (const { file, number, end } of records) {
      this.#current = file;
      Object.assign(this.#files[file]!, { last: number, end });
    }
  }

  /** Resolves with the number of the record with this payload, when it is on disk with all records before it. Rejects with a 503. */
  append(payload: Uint8Array): Promise<number> {
    if (this.#error) return Promise.reject(refusals.storeFailed(this.#error));
    const waiting = (this.#waiting ??= newWaiting());
    waiting.payloads.push(payload);
    if (!this.#isWriting) void this.#writeAll();
    return waiting.written;
  }

  /** Has further records begin the other file, if none of its own is needed. */
  alternate(): void {
    const other = 1 - this.#current;
    const file = this.#files[other];
    if (!file || file.last > this.#released) return;
    file.end = BLOCK_BYTES;
    this.#current = other;
  }

  /** Notes that the records up to this number are needed no longer. This must be on disk: they are overwritten. */
  release(number: number): void {
    this.#released = number;
  }

  /** Closes the files. No record may be under way. */
  close(): void {
    for (const { descriptor } of this.#files.splice(0)) closeSync(descriptor);
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let next = this.#waiting; next; next = this.#waiting) {
      this.#waiting = null;
      try {
        next.resolve(await this.#write(next.payloads));
      } catch (error) {
        this.#fail(error as NodeJS.ErrnoException, next);
      }
    }
    this.#isWriting = false;
  }

  async #write(payloads: readonly Uint8Array[]): Promise<number> {
    const file = this.#files[this.#current]!;
    const from = file.end;
    const number = this.#last + 1;
    const record = encodeRecord(this.#journal, number, payloads, this.#room);
    file.last = number;
    file.end += record.length;
    if (from === BLOCK_BYTES && file.bytes > KEPT_JOURNAL_FILE_BYTES) {
      await truncate(file.descriptor, KEPT_JOURNAL_FILE_BYTES);
      file.bytes = KEPT_JOURNAL_FILE_BYTES;
    }
    // Writes within a file are faster than those that make it larger, after which the system writes where its blocks are.
    if (file.end > file.bytes) {
      const zeros = Buffer.alloc(record.length + JOURNAL_FILE_STEP_BYTES);
      await this.#writeAt(file, zeros, file.bytes);
      file.bytes += zeros.length;
    }
    await this.#writeAt(file, record, from);
    this.#written += record.length;
    this.#last = number;
    return number;
  }

  async #writeAt({ descriptor }: OpenFile, bytes: Buffer, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      done += (await this.write(descriptor, bytes, done, bytes.length - done, at + done)).bytesWritten;
    }
    if (!IS_FLUSHED_BY_WRITE) await flush(descriptor);
  }

  #fail({ code, message }: NodeJS.ErrnoException, failed: Waiting): void {
    this.#error = new Error(`${code ?? message} while writing the journal`);
    this.failure.end(this.#error);
    for (const waiting of [failed, this.#waiting]) waiting?.reject(refusals.storeFailed(this.#error));
    this.#waiting = null;
  }
}

function openFile(folder: string, name: string, journal: number): OpenFile {
  const path = join(folder, name);
  try {
    const descriptor = openSync(path, FLAGS, 0o600);
    const head = Buffer.alloc(BLOCK_BYTES);
    readSync(descriptor, head, 0, BLOCK_BYTES, 0);
    if (!hasHead(head, journal)) {
      writeSync(descriptor, encodeHead(journal), 0, BLOCK_BYTES, 0);
      fdatasyncSync(descriptor);
    }
    return { descriptor, bytes: fstatSync(descriptor).size, end: BLOCK_BYTES, last: 0 };
  } catch (error) {
    throw new Error(`cannot open ${path}: ${(error as Error).message}; the user of the server must own it`, { cause: error });
  }
}

function newWaiting(): Waiting {
  const waiting: Partial<Waiting> = { payloads: [] };
  waiting.written = new Promise((resolve, reject) => Object.assign(waiting, { resolve, reject }));
  return waiting as Waiting;
}

export interface FoundRecord extends JournalRecord {
  /** The file that it is in, of JOURNAL_FILES, and the position behind it. */
  file: number;
  end: number;
}

/**
 * Reads the records that are still needed, in order. A server may write and overwrite records meanwhile. Every record that was on disk
 * before and that `released` does not include is found.
 *
 * Records are written one after another, so the intact ones have consecutive numbers. Throws a sentence when one or a file is missing. If
 * both files are, there is no record: somebody deleted them to go on without.
 *
 * @param journal the id of the journal; the files may have records of another one, which are ignored
 * @param released returns the number up to which records are needed no longer, as it is on disk now
 */
export function readJournal(folder: string, journal: number, released: () => number): FoundRecord[] {
  let missing = 0;
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
    const files = JOURNAL_FILES.map(name => readFile(join(folder, name)));
    const contents = files.map(file => file ?? Buffer.alloc(0));
    const lost = JOURNAL_FILES.filter((_, i) => !hasHead(contents[i]!, journal));
    if (lost.length > 0 && files.some(file => file !== null))
      throw damaged(folder, `${lost.join(' and ')} is missing or is not the file that was written`);
    // After the files: a record that was overwritten before it was read is released.
    const after = released();
    const records = contents.flatMap((content, file) => Array.from(recordsIn(content, journal, after), record => ({ ...record, file })));
    records.sort((a, b) => a.number - b.number);
    const gap = records.findIndex(({ number }, i) => number !== after + 1 + i);
    if (gap === -1) return records;
    // A server may have gone on in the first file while the second one was read.
    missing = after + 1 + gap;
  }
  throw damaged(folder, `record ${missing} is missing in ${JOURNAL_FILES.join(' and ')}, and later ones are there`);
}

function damaged(folder: string, what: string): Error {
  return new Error(
    `cannot read the journal in ${folder}: ${what}; restore a backup, or delete ${JOURNAL_FILES.join(' and ')} to go on without the last changes of queues and the last recorded runs`,
  );
}

/** Null: there is no file. */
function readFile(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}
