import type { Logger } from 'pino';
import type { DailyBytes } from '../engine/daily-bytes.js';
import type { BuildKey } from '../engine/keys.js';
import type { Build } from '../engine/ports/builds.js';
import type { Millis, Store } from '../engine/ports/store.js';
import type { PasswordAttempts } from '../engine/sign-in/password.js';
import type { SplitAsks } from '../engine/split-asks.js';
import type { CompletenessChecker } from './completeness-checker.js';
import type { DashboardFiles } from './dashboard/files.js';
import type { RefusedRequests, SeenClients } from './dashboard/seen.js';
import type { JobRunner } from './job-runner.js';
import type { WhatIfPlayer } from './what-if-player.js';

/** The dependencies of handlers. */
export interface Context {
  store: Store;
  jobs: JobRunner;
  completeness: CompletenessChecker;
  /** Is told which builds need a new summary. */
  summarizer: { recorded(project: number, build: BuildKey): void; outdated(build: Build): void };
  whatIfs: WhatIfPlayer;
  /** When nodes asked for their part of a split. */
  splitAsks: SplitAsks;
  /** What each project has stored today. */
  dailyBytes: DailyBytes;
  readiness: { assert(): Promise<void> };
  log: Logger;
  metrics: {
    text(): Promise<{ body: string; contentType: string }>;
    countBatch(testFiles: number): void;
    countReassignedBatch(): void;
  };
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

/** What the page of the server shows. */
export interface ServerStatus {
  stateNow(): {
    httpServer: string;
    connections: number;
    requestsInFlight: number;
    jobs: { waiting: number; running: number; threads: number };
    queues: { inMemory: number; open: number; bytes: number };
    store: { bytes: number; diskFreeBytes: number; records: Readonly<Record<string, number>> };
    /** The end of the last sweep, null before the first, and all deleted records, by kind. */
    sweeps: { endedAt: Millis | null; deleted: Readonly<Record<string, number>> };
    /** Null without a certificate. */
    certificateExpiresAt: Millis | null;
  };
  clients: SeenClients;
  refused: RefusedRequests;
  startedAt: Millis;
  retentionDays: number;
}
