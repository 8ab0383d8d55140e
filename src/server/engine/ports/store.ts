import type { Access } from './access.js';
import type { Builds } from './builds.js';
import type { Cases } from './cases.js';
import type { CiRuns } from './ci-runs.js';
import type { Deliveries } from './deliveries.js';
import type { Failures } from './failures.js';
import type { Maintenance } from './maintenance.js';
import type { Plans } from './plans.js';
import type { Queues } from './queues.js';
import type { Recordings } from './recordings.js';
import type { SignIns } from './sign-ins.js';
import type { Splits } from './splits.js';
import type { Summaries } from './summaries.js';
import type { Timings } from './timings.js';
import type { Values } from './values.js';

/** Milliseconds since 1970. */
export type Millis = number;

/**
 * The storage that the use cases need. The promise of a write (`saved`, where it returns a `Saving`) resolves when the write survives a
 * power cut. It rejects with a 503 (`storeFailed`) when the store cannot write; what was written is then unknown, and the caller may try
 * again. A read sees every write that resolved before it.
 */
export interface Store {
  readonly access: Access;
  readonly recordings: Recordings;
  readonly builds: Builds;
  readonly timings: Timings;
  readonly plans: Plans;
  readonly splits: Splits;
  readonly queues: Queues;
  readonly ciRuns: CiRuns;
  readonly summaries: Summaries;
  readonly failures: Failures;
  readonly signIns: SignIns;
  readonly deliveries: Deliveries;
  readonly cases: Cases;
  readonly values: Values;
  readonly maintenance: Maintenance;
  /** The time, on the clock that all processes of the store share. */
  now(): Millis;
  close(): Promise<void>;
}
