import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * What LMDB keeps at the start of its file, in two copies of a page each: liblmdb/mdb.c, MDB_page and MDB_meta, as in the
 * lmdb package. Looked at before the file is opened, because opening one that is damaged may end the process without a word.
 */
const SMALLEST_PAGE = 256;
const HEAD_BYTES = 160;
const FLAGS_AT = 18;
const IS_META = 0x08;
const META_AT = 24;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
/** From the magic on. */
const PAGE_SIZE = 24;
const LAST_PAGE = 120;
const TRANSACTION = 128;

export interface StoreFile {
  bytes: number;
  /** What it must have, unless its last pages are free. */
  expectedBytes: number;
}

/** Null when there is no file. Throws a sentence when it is no store. */
export function readStoreFile(path: string): StoreFile | null {
  if (!existsSync(path)) return null;
  const file = openSync(path, 'r');
  try {
    if (fstatSync(file).size === 0) throw new Error('the file is empty');
    const first = readMeta(file, 0);
    const second = readMeta(file, first.pageBytes);
    const { pageBytes, lastPage } = second.transaction > first.transaction ? second : first;
    // Behind the head: beside a server that writes, a size from before would be too small for it.
    return { bytes: fstatSync(file).size, expectedBytes: (lastPage + 1) * pageBytes };
  } finally {
    closeSync(file);
  }
}

function readMeta(file: number, at: number): { pageBytes: number; lastPage: number; transaction: bigint } {
  const head = Buffer.alloc(HEAD_BYTES);
  readSync(file, head, 0, HEAD_BYTES, at);
  const pageBytes = head.readUInt32LE(META_AT + PAGE_SIZE);
  const isMeta =
    (head.readUInt16LE(FLAGS_AT) & IS_META) !== 0 &&
    head.readUInt32LE(META_AT) === MAGIC &&
    head.readUInt32LE(META_AT + 4) === DATA_VERSION;
  if (!isMeta || pageBytes < SMALLEST_PAGE) throw new Error('the file is damaged, or no store');
  return {
    pageBytes,
    lastPage: Number(head.readBigUInt64LE(META_AT + LAST_PAGE)),
    transaction: head.readBigUInt64LE(META_AT + TRANSACTION),
  };
}
