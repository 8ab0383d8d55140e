import { writeSync } from 'node:fs';
import { escapeControls, printToStderr } from '../../../base/terminal.js';
import { UsageError } from '../../../base/usage-error.js';
import { type LmdbStore, openLmdbStore } from '../../../server/store/lmdb/store.js';
import { hasStore, storeFileOf } from '../../../server/store/lmdb/tables.js';
import { placeOf, type StoreSource } from '../../../server/store/source.js';
import { hardExit, storeFailureMessage } from '../../process/exit.js';

/** The folder that a command needs. Throws a sentence when the store is in a database. */
export function folderOf(source: StoreSource, verb: string, instead: string): string {
  if ('dataDir' in source) return source.dataDir;
  throw new UsageError([`cannot ${verb} ${placeOf(source)}: it is a database: ${instead}`]);
}

/** Runs work on the store in a folder, which must have one. */
export async function withExistingFolder(dataDir: string, work: (store: LmdbStore) => void | Promise<void>): Promise<void> {
  if (!hasStore(dataDir)) {
    throw new Error(`there is no store in ${dataDir}; name the server's folder with --data-dir or BALLAST_DATA_DIR`);
  }
  const file = storeFileOf(dataDir);
  if (file && file.bytes < file.expectedBytes) {
    printToStderr(
      `the store has ${file.bytes} of ${file.expectedBytes} bytes; if the command ends without a message, the file was cut off`,
    );
  }
  await withFolder(dataDir, work);
}

/** Runs work on the store in a folder, which is created if it is missing. */
export async function withFolder<T>(dataDir: string, work: (store: LmdbStore) => T | Promise<T>): Promise<T> {
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
