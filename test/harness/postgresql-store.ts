import { randomUUID } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import type { Store } from '../../src/server/engine/ports/store.js';
import { openPostgresqlStore, type PostgresqlOptions } from '../../src/server/store/postgresql/store.js';
import { TABLES } from '../postgresql-cluster.js';
import { createDatabase, dropDatabase, statement } from '../testbed/postgresql.js';

/** The cluster for the tests; null: this machine has no PostgreSQL. */
export const cluster = inject('postgresql');

const QUEUES = { pullCost: 0, lease: null, cacheBytes: 1e9 };

interface NewDatabase {
  name: string;
  url: string;
  /** To be called when nothing uses it any more. */
  end: () => Promise<void>;
}

/** Makes a database that is a copy of another one, and is dropped at its end. */
export async function newDatabase(template = TABLES): Promise<NewDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  return { name, url: await createDatabase(cluster!, name, template), end: () => dropDatabase(cluster!, name) };
}

/** The same for one test. Returns its URL. */
export async function copiedDatabase(template?: string): Promise<string> {
  const { url, end } = await newDatabase(template);
  onTestFinished(end);
  return url;
}

/** Makes a database without tables, which is dropped after the test. */
export const databaseWithoutTables = () => copiedDatabase('template1');

/** Databases of tests that ended: to empty one takes a tenth of the time that it takes to make one and drop it. */
const ended: NewDatabase[] = [];

/** A database with empty tables, which another test gets after its end. */
export async function lentDatabase(): Promise<NewDatabase> {
  const database = ended.pop() ?? (await newDatabase());
  const end = async () => {
    await statement(database.url, EMPTY);
    ended.push(database);
  };
  return { ...database, end };
}

/** The same for one test, which changes no table's definition. Returns its URL. */
export async function emptyDatabase(): Promise<string> {
  const { url, end } = await lentDatabase();
  onTestFinished(end);
  return url;
}

/** Deletes all but the number of the schema, and numbers from 1 again. */
const EMPTY = `do $$
  declare name text;
  begin
    for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'ballast' loop
      execute format('delete from %I', name);
    end loop;
    delete from ballast where ballast.name <> 'schema';
    perform setval(sequencename::regclass, 1, false) from pg_sequences;
  end $$`;

const databases = new Map<string, Promise<NewDatabase>>();

/** The database in the place of a folder, which a test serves again. It goes with its cluster. */
export function databaseFor(dataDir: string): Promise<NewDatabase> {
  const database = databases.get(dataDir) ?? newDatabase().then(made => ({ ...made, end: async () => {} }));
  databases.set(dataDir, database);
  return database;
}

/** Copies the database in the place of a folder to the place of another one, while no server is connected to it. */
export async function copyDatabase(dataDir: string, copy: string): Promise<void> {
  const made = await newDatabase((await databaseFor(dataDir)).name);
  databases.set(copy, Promise.resolve({ ...made, end: async () => {} }));
}

/** Opens a store in a database, as a process does. It is closed after the test. */
export async function openedStore(url: string, queues: Partial<PostgresqlOptions['queues']> = {}): Promise<Store> {
  const store = await openPostgresqlStore({ url, connections: 4, mayMigrate: true, queues: { ...QUEUES, ...queues } });
  onTestFinished(() => store.close());
  return store;
}
