import type { Store } from '../../engine/ports/store.js';
import type { QueueOptions } from '../queue-cache.js';
import { postgresqlAccess } from './access.js';
import { postgresqlBuilds } from './builds.js';
import { postgresqlCases } from './cases.js';
import { postgresqlCiRuns } from './ci-runs.js';
import { Database } from './connection/database.js';
import type { DatabaseOptions } from './connection/options.js';
import { keepStatistics } from './connection/statistics.js';
import { postgresqlDeliveries } from './deliveries.js';
import { postgresqlFailures } from './failures.js';
import { Learner } from './learner.js';
import { postgresqlMaintenance } from './maintenance.js';
import { Paths } from './paths.js';
import { Pieces } from './plans/pieces.js';
import { postgresqlPlans } from './plans/plans.js';
import { PostgresqlQueues } from './plans/queues.js';
import { postgresqlSplits } from './plans/splits.js';
import { RunRecorder } from './recordings.js';
import { assertSchema, migrate } from './schema.js';
import { postgresqlSignIns } from './sign-ins.js';
import { postgresqlSummaries } from './summaries.js';
import { postgresqlTimings } from './timings.js';
import { postgresqlValues } from './values.js';

export interface PostgresqlOptions extends DatabaseOptions {
  /** Options of the queues that are kept in memory while they are in use. */
  queues?: QueueOptions & { cacheBytes: number };
  /** True if tables may be created, and brought up to date; else they must be there. */
  mayMigrate: boolean;
  /** Called when tables that have grown cannot be analyzed: see keepStatistics. */
  analyzeFailed?: (error: unknown) => void;
  /** The process has opened it already: nothing is asked, so that its threads can start while the database is away. */
  isServed?: true;
}

/** A store in a PostgreSQL database. */
export interface PostgresqlStore extends Store {
  /** The database, for the process edge alone. */
  readonly database: Database;
}

/** For who changes no queue. */
const NO_CACHE = { cacheBytes: 1, pullCost: 0, lease: null };

/**
 * Opens the store in a PostgreSQL database, which any number of processes may do. Throws a sentence when it cannot be used.
 *
 * @param options the database must exist
 */
export async function openPostgresqlStore(options: PostgresqlOptions): Promise<PostgresqlStore> {
  const database = new Database(options);
  try {
    if (!options.isServed) {
      await database.open();
      await (options.mayMigrate ? migrate(database) : assertSchema(database)).catch(error => Promise.reject(database.explain(error)));
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  const endStatistics = options.isWatched ? keepStatistics(database, options.analyzeFailed ?? (() => {})) : null;
  const paths = new Paths(database);
  const pieces = new Pieces(database);
  const learner = new Learner(database);
  const queues = new PostgresqlQueues(database, pieces, options.queues ?? NO_CACHE);
  return {
    access: postgresqlAccess(database),
    signIns: postgresqlSignIns(database),
    recordings: new RunRecorder(database, paths, learner),
    builds: postgresqlBuilds(database, paths),
    timings: postgresqlTimings(database, learner),
    plans: postgresqlPlans(database, pieces),
    splits: postgresqlSplits(database),
    queues,
    ciRuns: postgresqlCiRuns(database),
    summaries: postgresqlSummaries(database),
    failures: postgresqlFailures(database),
    deliveries: postgresqlDeliveries(database),
    cases: postgresqlCases(database),
    values: postgresqlValues(database),
    maintenance: postgresqlMaintenance({ database, learner, pieces }),
    database,
    now: () => database.now(),
    async close() {
      endStatistics?.();
      await queues.close();
      await learner.close();
      await database.close();
    },
  };
}
