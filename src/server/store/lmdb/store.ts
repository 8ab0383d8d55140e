import { join } from 'node:path';
import type { Soon } from '../../../base/soon.js';
import type { Access } from '../../engine/ports/access.js';
import type { Builds } from '../../engine/ports/builds.js';
import type { Store } from '../../engine/ports/store.js';
import type { Timings } from '../../engine/ports/timings.js';
import type { QueueOptions } from '../queue-cache.js';
import { lmdbAccess } from './access.js';
import { lmdbBuilds } from './builds.js';
import { lmdbCases } from './cases.js';
import { lmdbCiRuns } from './ci-runs.js';
import { lmdbDeliveries } from './deliveries.js';
import { lmdbFailures } from './failures.js';
import { lmdbMaintenance } from './maintenance.js';
import { closeParts, openParts, type Parts, type PartsOptions } from './parts.js';
import { lmdbPlans } from './plans/plans.js';
import { LmdbQueues } from './plans/queues.js';
import { lmdbSplits } from './plans/splits.js';
import { lmdbRecordings } from './recordings.js';
import { lmdbSignIns } from './sign-ins.js';
import { lmdbSummaries } from './summaries.js';
import { STORE_FILE } from './tables.js';
import { lmdbTimings } from './timings.js';
import { lmdbValues } from './values.js';
import type { JournaledRuns } from './writes/journaled-runs.js';

/** A store in an LMDB file and a journal. Its reads answer immediately. */
export interface LmdbStore extends Store {
  readonly access: Access;
  readonly recordings: ReturnType<typeof lmdbRecordings>;
  readonly builds: Builds;
  readonly timings: Timings;
  readonly plans: ReturnType<typeof lmdbPlans>;
  readonly splits: ReturnType<typeof lmdbSplits>;
  readonly queues: LmdbQueues;
  readonly ciRuns: ReturnType<typeof lmdbCiRuns>;
  readonly summaries: ReturnType<typeof lmdbSummaries>;
  readonly failures: ReturnType<typeof lmdbFailures>;
  readonly signIns: ReturnType<typeof lmdbSignIns>;
  readonly deliveries: ReturnType<typeof lmdbDeliveries>;
  readonly cases: ReturnType<typeof lmdbCases>;
  readonly values: ReturnType<typeof lmdbValues>;
  readonly maintenance: ReturnType<typeof lmdbMaintenance>;
  /** Parts that only commands on the folder need. */
  readonly parts: Parts;
}

export interface LmdbOptions extends PartsOptions {
  /** Options of the queues that are kept in memory while they are in use; only a server changes queues. */
  queues?: QueueOptions & { cacheBytes: number };
}

const NO_CACHE = { cacheBytes: 1, pullCost: 0, lease: null };

/** Opens the store in a folder, which is created if missing. Throws a sentence when that fails. A server opens it with `serveFolder`. */
export function openLmdbStore(dataDir: string, { queues: queueOptions = NO_CACHE, ...options }: LmdbOptions = {}): LmdbStore {
  const parts = openParts(dataDir, options);
  const queues = new LmdbQueues(parts, queueOptions);
  const { projects, project, ...tokens } = lmdbAccess(parts);
  return {
    // The default branch of a project follows its runs.
    access: { ...tokens, ...afterRuns(parts.runs, { projects, project }) },
    recordings: lmdbRecordings(parts),
    builds: afterRuns(parts.runs, lmdbBuilds(parts)),
    timings: afterRuns(parts.runs, lmdbTimings(parts)),
    plans: lmdbPlans(parts),
    splits: lmdbSplits(parts),
    queues,
    ciRuns: lmdbCiRuns(parts),
    summaries: lmdbSummaries(parts),
    failures: lmdbFailures(parts),
    signIns: lmdbSignIns(parts),
    deliveries: lmdbDeliveries(parts),
    cases: lmdbCases(parts),
    values: lmdbValues(parts),
    maintenance: lmdbMaintenance(parts, join(dataDir, STORE_FILE), key => queues.drop(key)),
    parts,
    now: Date.now,
    close: () => closeParts(parts),
  };
}

type Reads = Record<string, (...args: never[]) => unknown>;
type AfterRuns<G> = { [K in keyof G]: G[K] extends (...args: infer A) => infer R ? (...args: A) => Soon<Awaited<R>> : never };

/** A group of reads that see every recorded run: each waits, where that is necessary, until the tables have the runs in the journal. */
export function afterRuns<G extends object>(runs: Pick<JournaledRuns, 'settle'>, group: G): AfterRuns<G> {
  const reads = Object.entries(group as Reads).map(([name, read]) => [
    name,
    (...args: never[]) => {
      const settled = runs.settle();
      return settled ? settled.then(() => read(...args)) : read(...args);
    },
  ]);
  return Object.fromEntries(reads) as AfterRuns<G>;
}
