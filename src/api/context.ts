import type { DailyBytes } from '../engine/daily-bytes.js';
import type { Store } from '../engine/ports/store.js';
import type { PasswordAttempts } from '../engine/sign-in/password-attempts.js';
import type { ServerStatus } from '../server/dashboard.js';
import type { Logger } from '../server/log.js';
import type { Metrics } from '../server/metrics.js';
import type { Summarizer } from '../server/summarizer.js';
import type { CompletenessChecker } from '../workers/completeness-checker.js';
import type { WorkerPool } from '../workers/pool.js';
import type { WhatIfPlayer } from '../workers/what-if-player.js';
import type { DashboardFiles } from './dashboard/files.js';

/** The dependencies of handlers. */
export interface Context {
  store: Store;
  workers: WorkerPool;
  completeness: CompletenessChecker;
  summarizer: Summarizer;
  whatIfs: WhatIfPlayer;
  /** What each project has stored today. */
  dailyBytes: DailyBytes;
  readiness: { assert(): Promise<void> };
  log: Logger;
  metrics: Metrics;
  /** The admin port serves the metrics, and this port does not. */
  hasAdminPort: boolean;
  /** The time that a node loses between two batches of a queue, as a weight. */
  pullCost: number;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Scheme and host for links; null: those of the request. */
  publicUrl: string | null;
  /** The newest version of each client, by name. */
  clientVersions: ReadonlyMap<string, string>;
  /** The accepted prefixes of request headers. Messages name the first. */
  headerPrefixes: readonly string[];
  /** The token header that messages name. */
  tokenHeader: string;
  /** Null: this port does not serve the dashboard. */
  dashboard: Dashboard | null;
}

/** What only the dashboard needs. */
export interface Dashboard {
  files: DashboardFiles;
  passwords: PasswordAttempts;
  /** The address of the API if that is another port; null: it is this one. */
  apiUrl: () => string | null;
  status: () => ServerStatus;
}
