import { openPostgresqlStore } from '../../../src/server/store/postgresql/store.js';
import { temporaryFolder } from '../../../test/testbed/cleanup.js';
import { createDatabase } from '../../../test/testbed/postgresql.js';
import { type Server, startServer } from '../../../test/testbed/server.js';
import type { AnswerLog } from '../answer-log.js';
import { checkDatabase } from '../database-check.js';
import { neededCluster } from '../needed-cluster.js';
import { checkStore } from '../store-check.js';

/** A store that killed servers leave behind. */
export interface KilledStore {
  serve(): Promise<Server>;
  /** Returns a sentence for each problem. */
  check(): Promise<string[]>;
  /** Checks that it has what nodes were told. */
  expectStored(log: AnswerLog): Promise<void>;
  close(): Promise<void>;
}

/** A folder, which one server at a time has. It can be checked while none has it. */
export function folderStore(): KilledStore {
  const dataDir = temporaryFolder();
  return {
    serve: () => startServer({ dataDir }),
    check: () => checkStore(dataDir),
    // The check and the gate say so.
    expectStored: async () => {},
    close: async () => {},
  };
}

/** A database, which any number of servers have. */
export async function databaseStore(): Promise<KilledStore> {
  const cluster = await neededCluster();
  const url = await createDatabase(cluster.url, 'ballast');
  return {
    serve: () => startServer({ database: url }),
    check: () => checkDatabase(url),
    async expectStored(log) {
      const store = await openPostgresqlStore({ url, connections: 2, mayMigrate: false });
      await log.expectStored(store);
      await store.close();
    },
    close: () => cluster.stop(),
  };
}
