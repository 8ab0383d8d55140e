import type { Logger } from 'pino';
import type { Store } from '../engine/ports/store.js';
import type { LmdbOptions } from './lmdb/store.js';
import type { DatabaseOptions, StatementKind } from './postgresql/connection/options.js';

/** Place of a store: a folder of this machine, or a database, which any number of processes serve. */
export type StoreSource = { dataDir: string } | DatabaseSource;

export interface DatabaseSource {
  database: Pick<DatabaseOptions, 'url' | 'passwordFile' | 'ca'>;
}

interface SourceSettings {
  dataDir: string;
  /** Null: the store is in the folder. */
  databaseUrl: string | null;
  databasePasswordFile: string | null;
  databaseCa: string | null;
}

/** The source that settings name. */
export function sourceOf({ dataDir, databaseUrl, databasePasswordFile, databaseCa }: SourceSettings): StoreSource {
  if (databaseUrl === null) return { dataDir };
  return { database: { url: databaseUrl, passwordFile: databasePasswordFile, ca: databaseCa } };
}

/** Name of a store in messages: its folder, or the URL of its database without the password and the parameters. */
export function placeOf(source: StoreSource): string {
  if ('dataDir' in source) return source.dataDir;
  return source.database.url.replace(/\?.*$/s, '').replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, '$1@');
}

export interface ServeOptions extends Required<LmdbOptions> {
  /** The most connections to a database. */
  connections: number;
  /** Called when a database answered a statement. */
  statementEnded(kind: StatementKind, seconds: number): void;
}

/** Opens a store for a process that serves it. Throws a sentence when that fails. */
export async function serveStore(
  source: StoreSource,
  log: Logger,
  { connections, statementEnded, ...options }: ServeOptions,
): Promise<Store> {
  if ('dataDir' in source) return (await import('./lmdb/folder/serve-folder.js')).serveFolder(source.dataDir, log, options);
  const { serveDatabase } = await import('./postgresql/serve-database.js');
  return serveDatabase({ ...source.database, connections, statementEnded, queues: options.queues }, log);
}

/** Opens a store that exists, for a thread of the process that serves it. Only that process changes queues. */
export async function openStore(source: StoreSource): Promise<Store> {
  if ('dataDir' in source) return (await import('./lmdb/store.js')).openLmdbStore(source.dataDir);
  const { openPostgresqlStore } = await import('./postgresql/store.js');
  return openPostgresqlStore({ ...source.database, connections: 1, mayMigrate: false, isServed: true });
}
