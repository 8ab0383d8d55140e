import type { TestProject } from 'vitest/node';
import { startCluster } from '../bench/load/postgresql.js';

/** Starts PostgreSQL for the tests of stores, once for all of them. */
export default async function (project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster();
  project.provide('postgresql', cluster?.url ?? null);
  return async () => cluster?.stop();
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a cluster; null: this machine has no PostgreSQL. */
    postgresql: string | null;
  }
}
