import type { Store } from '../../server/engine/ports/store.js';
import { Refusal } from '../../server/engine/refusal.js';
import type { PostgresqlStore } from '../../server/store/postgresql/store.js';
import { type DatabaseSource, placeOf, type StoreSource } from '../../server/store/source.js';
import { withExistingFolder, withFolder } from './data-folder/data-folder.js';

type Work = (store: Store) => void | Promise<void>;

/** Runs work on a store that exists. A mistyped folder or database must not become one. */
export function withExistingStore(source: StoreSource, work: Work): Promise<void> {
  return 'dataDir' in source ? withExistingFolder(source.dataDir, work) : withDatabase(source, { mayMigrate: false }, work);
}

/** Runs work on a store, which is created if it is missing. */
export function withStore(source: StoreSource, work: Work): Promise<void> {
  return 'dataDir' in source ? withFolder(source.dataDir, work) : withDatabase(source, { mayMigrate: true }, work);
}

/** @param options see PostgresqlOptions */
export async function withDatabase(
  source: DatabaseSource,
  options: { mayMigrate: boolean; isWatched?: boolean },
  work: (store: PostgresqlStore) => void | Promise<void>,
): Promise<void> {
  const { openPostgresqlStore } = await import('../../server/store/postgresql/store.js');
  const store = await openPostgresqlStore({ ...source.database, connections: 4, ...options }).catch((error: Error) => {
    throw error.message.startsWith('cannot ') ? error : new Error(`cannot open ${placeOf(source)}: ${error.message}`, { cause: error });
  });
  try {
    await work(store);
  } catch (error) {
    // Its message is for clients of a server; that of its cause says what the database did not like.
    throw error instanceof Refusal && error.reason === 'database' ? store.database.explain(error) : error;
  } finally {
    await store.close();
  }
}
