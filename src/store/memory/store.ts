import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../engine/ports/store.js';
import { memoryAccess } from './access.js';
import { memoryBuilds } from './builds.js';
import { memoryCiRuns } from './ci-runs.js';
import { memoryMaintenance } from './maintenance.js';
import { memoryQueues, type QueueOptions } from './queues.js';
import { memoryRecordings } from './recordings.js';
import { memorySignIns } from './sign-ins.js';
import { memorySplits } from './splits.js';
import { memorySummaries } from './summaries.js';
import { Tables } from './tables.js';
import { memoryTimings } from './timings.js';

/** A store for tests, and the shortest implementation of the ports. A write resolves after a turn of the event loop, as on a disk. */
export function openMemoryStore(options: QueueOptions): Store {
  const tables = new Tables();
  return {
    access: memoryAccess(tables),
    recordings: memoryRecordings(tables),
    builds: memoryBuilds(tables),
    timings: memoryTimings(tables),
    splits: memorySplits(tables),
    queues: memoryQueues(tables, options),
    ciRuns: memoryCiRuns(tables),
    summaries: memorySummaries(tables),
    signIns: memorySignIns(tables),
    maintenance: memoryMaintenance(tables),
    close: () => nextTurn(),
  };
}
