import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The layout of the two meta pages at the start of an LMDB file: MDB_page and MDB_meta in liblmdb/mdb.c of the lmdb package. They
 * are checked before lmdb opens the file, because opening a damaged one may crash the process without a message.
 */
const SMALLEST_PAGE = 256;
const HEAD_BYTES = 160;
const FLAGS_AT = 18;
const IS_META = 0x08;
const META_AT = 24;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
/** Offsets from the magic number. */
const PAGE_SIZE = 24;
const LAST_PAGE = 120;
const TRANSACTION = 128;

export interface StoreFile {
  bytes: number;
  /** The size according to its meta page. The file may be smaller when its last pages are free. */
  expectedBytes: number;
}

/** Reads the sizes of a store file; null: there is no file. Throws a sentence when it is not a store. */
export function readStoreFile(path: string): StoreFile | null {
  if (!existsSync(path)) return null;
  const file = openSync(path, 'r');
  try {
    if (fstatSync(file).size === 0) throw new Error('the file is empty');
    const first = readMeta(file, 0);
    const second = readMeta(file, first.pageBytes);
    const { pageBytes, lastPage } = second.transaction > first.transaction ? second : first;
    // After the meta pages: a server may let the file grow meanwhile.
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
  if (!isMeta || pageBytes < SMALLEST_PAGE) throw new Error('the file is damaged or not a store');
  return {
    pageBytes,
    lastPage: Number(head.readBigUInt64LE(META_AT + LAST_PAGE)),
    transaction: head.readBigUInt64LE(META_AT + TRANSACTION),
  };
}
