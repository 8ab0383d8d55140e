import type { Store } from '../engine/ports/store.js';
import { placeOf, type StoreSource } from '../store/source.js';
import { withExistingFolder, withFolder } from './data-folder/data-folder.js';

type Work = (store: Store) => void | Promise<void>;

/** Runs work on a store that exists. A mistyped folder or database must not become one. */
export function withExistingStore(source: StoreSource, work: Work): Promise<void> {
  return 'dataDir' in source ? withExistingFolder(source.dataDir, work) : withDatabase(source, false, work);
}

/** Runs work on a store, which is created if it is missing. */
export function withStore(source: StoreSource, work: Work): Promise<void> {
  return 'dataDir' in source ? withFolder(source.dataDir, work) : withDatabase(source, true, work);
}

async function withDatabase(source: Exclude<StoreSource, { dataDir: string }>, mayMigrate: boolean, work: Work): Promise<void> {
  const { openPostgresqlStore } = await import('../store/postgresql/store.js');
  const store = await openPostgresqlStore({ ...source.database, connections: 2, mayMigrate }).catch((error: Error) => {
    throw error.message.startsWith('cannot ') ? error : new Error(`cannot open ${placeOf(source)}: ${error.message}`, { cause: error });
  });
  try {
    await work(store);
  } finally {
    await store.close();
  }
}
