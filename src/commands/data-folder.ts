import { statSync } from 'node:fs';
import { join } from 'node:path';
import { hasStore, openStore, STORE_FILE, type Store } from '../store/open.js';

/** Runs work on the store of a folder, which must be there: a mistyped folder is no new store. */
export async function withExistingStore(dataDir: string, work: (store: Store) => void | Promise<void>): Promise<void> {
  if (!hasStore(dataDir)) {
    throw new Error(`there is no store in ${dataDir}; name the server's folder with --data-dir or BALLAST_DATA_DIR`);
  }
  const file = join(dataDir, STORE_FILE);
  if (statSync(file).size === 0) throw new Error(`the store ${file} is empty, and was never that: start from a backup`);
  await withStore(dataDir, work);
}

/** Runs work on the store of a folder, made if missing. */
export async function withStore(dataDir: string, work: (store: Store) => void | Promise<void>): Promise<void> {
  const store = openStore(dataDir);
  try {
    await work(store);
  } finally {
    await store.root.close();
  }
}
