import { randomUUID } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import { createDatabase, dropDatabase } from '../../bench/load/postgresql.js';
import type { Store } from '../../src/engine/ports/store.js';
import { openPostgresqlStore, type PostgresqlOptions } from '../../src/store/postgresql/store.js';
import { TABLES } from '../postgresql-cluster.js';

/** The cluster for the tests; null: this machine has no PostgreSQL. */
export const cluster = inject('postgresql');

const QUEUES = { pullCost: 0, lease: null, cacheBytes: 1e9 };

interface NewDatabase {
  name: string;
  url: string;
  drop: () => Promise<void>;
}

/** Makes a database: one with empty tables, or a copy of another one. */
export async function newDatabase(template = TABLES): Promise<NewDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  return { name, url: await createDatabase(cluster!, name, template), drop: () => dropDatabase(cluster!, name) };
}

const databases = new Map<string, Promise<NewDatabase>>();

/** The database in the place of a folder, which a test serves again. It goes with its cluster. */
export function databaseFor(dataDir: string): Promise<NewDatabase> {
  const database = databases.get(dataDir) ?? newDatabase().then(made => ({ ...made, drop: async () => {} }));
  databases.set(dataDir, database);
  return database;
}

/** Makes a database with empty tables, or a copy of another one, which is dropped after the test. Returns its URL. */
export async function emptyDatabase(template?: string): Promise<string> {
  const { url, drop } = await newDatabase(template);
  onTestFinished(drop);
  return url;
}

/** The same without tables. */
export const databaseWithoutTables = () => emptyDatabase('template1');

/** Opens a store in a database, as a process does. It is closed after the test. */
export async function openedStore(url: string, queues: Partial<PostgresqlOptions['queues']> = {}): Promise<Store> {
  const store = await openPostgresqlStore({ url, connections: 4, mayMigrate: true, queues: { ...QUEUES, ...queues } });
  onTestFinished(() => store.close());
  return store;
}
