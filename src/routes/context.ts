import type { CompletenessChecker } from '../jobs/completeness-checker.js';
import type { JobPool } from '../jobs/pool.js';
import type { Logger } from '../log.js';
import type { Metrics } from '../metrics.js';
import type { Store } from '../store/open.js';
import type { Queues } from '../store/queues.js';
import type { Readiness } from '../store/readiness.js';

/** What handlers work with. */
export interface Context {
  store: Store;
  queues: Queues;
  readiness: Readiness;
  jobs: JobPool;
  log: Logger;
  metrics: Metrics;
  /** Metrics are to be had there, and not here. */
  hasAdminPort: boolean;
  comparisons: CompletenessChecker;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Scheme and host for links; null: from the Host header. */
  publicUrl: string | null;
  /** Newest version by client name. */
  clientVersions: ReadonlyMap<string, string>;
  /** Of request headers, the first is named in messages. */
  headerPrefixes: readonly string[];
  /** The token header named in messages. */
  tokenHeader: string;
}
