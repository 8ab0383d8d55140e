import { writeSync } from 'node:fs';
import { type LmdbStore, openLmdbStore } from '../../store/lmdb/store.js';
import { hasStore, storeFileOf } from '../../store/lmdb/tables.js';
import { printable, say } from '../../terminal.js';
import { hardExit, sentenceOfFailure } from '../process/hard-exit.js';

/** Runs work on the store of a folder. The store must exist: a mistyped folder is no new store. */
export async function withExistingStore(dataDir: string, work: (store: LmdbStore) => void | Promise<void>): Promise<void> {
  if (!hasStore(dataDir)) {
    throw new Error(`there is no store in ${dataDir}; name the server's folder with --data-dir or BALLAST_DATA_DIR`);
  }
  const file = storeFileOf(dataDir);
  if (file && file.bytes < file.expectedBytes) {
    say(`the store has ${file.bytes} of ${file.expectedBytes} bytes; if this ends without a message, the file was cut off`);
  }
  await withStore(dataDir, work);
}

/** Runs work on the store of a folder, which is created if missing. */
export async function withStore<T>(dataDir: string, work: (store: LmdbStore) => T | Promise<T>): Promise<T> {
  const storeFailed = (error: Error) => {
    // Synchronously, so that a thread's message is not lost.
    writeSync(2, `ballast: ${printable(sentenceOfFailure(dataDir, error))}\n`);
    hardExit();
  };
  const store = openLmdbStore(dataDir, { storeFailed });
  try {
    return await work(store);
  } finally {
    await store.parts.root.close();
  }
}
