import type { TestProject } from 'vitest/node';
import { openPostgresqlStore } from '../src/server/store/postgresql/store.js';
import { createDatabase, startCluster } from './testbed/postgresql.js';

/** The database with tables, and nothing in them, that those of tests are copies of: to make the tables takes longer than most tests. */
export const TABLES = 'tables';

/** Starts PostgreSQL for the tests of stores, once for all of them. */
export default async function (project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster();
  if (cluster)
    await (await openPostgresqlStore({ url: await createDatabase(cluster.url, TABLES), connections: 1, mayMigrate: true })).close();
  project.provide('postgresql', cluster?.url ?? null);
  return async () => cluster?.stop();
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a cluster; null: this machine has no PostgreSQL. */
    postgresql: string | null;
  }
}
