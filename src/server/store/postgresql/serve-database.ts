import type { Logger } from 'pino';
import type { Store } from '../../engine/ports/store.js';
import type { QueueOptions } from '../queue-cache.js';
import type { DatabaseOptions } from './connection/options.js';
import { openPostgresqlStore } from './store.js';

export interface ServingOptions extends Omit<DatabaseOptions, 'isWatched'> {
  queues: QueueOptions & { cacheBytes: number };
}

/** Settings of a database with which a commit survives its crash, though perhaps not that of its standby. */
const SURVIVES = ['on', 'remote_apply', 'remote_write'];

/**
 * Opens the store in a database for a process that serves it: makes its tables or brings them up to date, and watches it. Throws a sentence
 * when that fails, or when what the database acknowledges may not survive its crash.
 */
export async function serveDatabase(options: ServingOptions, log: Logger): Promise<Store> {
  const analyzeFailed = (err: unknown) =>
    log.warn(
      { err },
      'could not analyze tables that have grown: statements may be slow until the database does so itself; it is tried again',
    );
  const store = await openPostgresqlStore({ ...options, isWatched: true, mayMigrate: true, analyzeFailed });
  const { plainHost, synchronousCommit } = store.database;
  const setting = synchronousCommit!;
  if (!SURVIVES.includes(setting)) {
    await store.close();
    throw new Error(
      `its synchronous_commit is "${setting}": what it acknowledges may be lost; set it to on for the role that Ballast uses (alter role ... set synchronous_commit = on)`,
    );
  }
  if (setting === 'remote_write')
    log.warn(
      'synchronous_commit of the database is "remote_write": what is acknowledged may be lost when the machine of the standby crashes too',
    );
  if (plainHost !== null)
    log.warn({ host: plainHost }, 'the connection to the database is not encrypted: add ?sslmode=verify-full to BALLAST_DATABASE_URL');
  return store;
}
