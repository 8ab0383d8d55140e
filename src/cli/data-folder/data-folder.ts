import { writeSync } from 'node:fs';
import { type LmdbStore, openLmdbStore } from '../../store/lmdb/store.js';
import { hasStore, storeFileOf } from '../../store/lmdb/tables.js';
import { escapeControls, printToStderr } from '../../terminal.js';
import { hardExit, storeFailureMessage } from '../process/exit.js';

/** Runs work on the existing store of a folder. A mistyped folder must not create a store. */
export async function withExistingStore(dataDir: string, work: (store: LmdbStore) => void | Promise<void>): Promise<void> {
  if (!hasStore(dataDir)) {
    throw new Error(`there is no store in ${dataDir}; name the server's folder with --data-dir or BALLAST_DATA_DIR`);
  }
  const file = storeFileOf(dataDir);
  if (file && file.bytes < file.expectedBytes) {
    printToStderr(
      `the store has ${file.bytes} of ${file.expectedBytes} bytes; if the command ends without a message, the file was cut off`,
    );
  }
  await withStore(dataDir, work);
}

/** Runs work on the store of a folder. Creates the store if it is missing. */
export async function withStore<T>(dataDir: string, work: (store: LmdbStore) => T | Promise<T>): Promise<T> {
  const storeFailed = (error: Error) => {
    // A synchronous write, so that the message of a worker thread is not lost.
    writeSync(2, `ballast: ${escapeControls(storeFailureMessage(dataDir, error))}\n`);
    hardExit();
  };
  const store = openLmdbStore(dataDir, { storeFailed });
  try {
    return await work(store);
  } finally {
    await store.parts.root.close();
  }
}
