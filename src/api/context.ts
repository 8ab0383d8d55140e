import type { Logger } from '../server/log.js';
import type { Metrics } from '../server/metrics.js';
import type { Readiness } from '../server/readiness.js';
import type { LmdbStore } from '../store/lmdb/store.js';
import type { CompletenessChecker } from '../workers/completeness-checker.js';
import type { JobPool } from '../workers/pool.js';

/** What handlers work with. */
export interface Context {
  store: LmdbStore;
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
