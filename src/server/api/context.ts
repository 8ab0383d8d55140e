import type { Logger } from 'pino';
import type { Soon } from '../../base/soon.js';
import type { DailyBytes } from '../engine/daily-bytes.js';
import type { BuildKey, ProjectBuild, QueueKey } from '../engine/keys.js';
import type { NodeNotes } from '../engine/node-notes.js';
import type { Project } from '../engine/ports/access.js';
import type { StoreLoad } from '../engine/ports/maintenance.js';
import type { QueueLoad } from '../engine/ports/queues.js';
import type { Millis, Store } from '../engine/ports/store.js';
import type { PublicAllowance } from '../engine/public-side/allowance.js';
import type { PasswordAttempts } from '../engine/sign-in/password.js';
import type { SplitAsks } from '../engine/split-asks.js';
import type { SuiteCache } from '../engine/suites/suite-cache.js';
import type { ClientFiles } from './client-files.js';
import type { CompletenessChecker } from './completeness-checker.js';
import type { RefusedRequests, SeenClients } from './dashboard/seen.js';
import type { JobRunner } from './job-runner.js';
import type { DashboardFiles, StaticFile } from './static-file.js';
import type { WhatIfPlayer } from './what-if-player.js';

/** The dependencies of handlers. */
export interface Context {
  store: Store;
  jobs: JobRunner;
  completeness: CompletenessChecker;
  /** Gets the builds that need a new summary, and the projects whose next queue is planned with what their newest build tells. */
  summarizer: {
    recorded(project: number, build: BuildKey): void;
    outdated(build: ProjectBuild): void;
    learnFirst(project: number, key: QueueKey | null): Soon<void>;
  };
  whatIfs: WhatIfPlayer;
  /** When nodes asked for their part of a split. */
  splitAsks: SplitAsks;
  /** The addresses that nodes send. */
  nodeNotes: NodeNotes;
  /** Bytes that each project has stored today. */
  dailyBytes: DailyBytes;
  /** What public tokens have sent today. */
  publicAllowance: PublicAllowance;
  readiness: { assert(): Promise<void> };
  log: Logger;
  metrics: {
    text(): Promise<{ body: string; contentType: string }>;
    countBatch(testFiles: number): void;
    countReassignedBatch(): void;
    countProof(isProved: boolean): void;
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
  /** The private key that signs receipts, in PEM; null: the store has it. */
  receiptKey: string | null;
  /** The program of a CI node. */
  client: ClientFiles;
  /** The guides as Markdown, and their list: by path, such as /docs/api.md. */
  guides: ReadonlyMap<string, StaticFile>;
  /** The token header that messages name. */
  tokenHeader: string;
  /** Null: this port does not serve the dashboard. */
  dashboard: Dashboard | null;
}

/** The parts of the context that only the dashboard needs. */
export interface Dashboard {
  files: DashboardFiles;
  passwords: PasswordAttempts;
  /** The address of the API if that is another port; null: it is this one. */
  apiUrl: () => string | null;
  status: () => ServerStatus;
  /** Sends a test to a webhook of a project, once. Resolves with what was wrong; null: it was taken. */
  testWebhook: (project: Project, url: string) => Promise<string | null>;
}

/** The state of the process at one moment. */
export interface ProcessState {
  version: string;
  httpServer: string;
  connections: number;
  requestsInFlight: number;
  reservedBytes: number;
  fullProjects: number;
  jobs: JobRunner['load'];
  suites: SuiteCache['load'];
  queues: QueueLoad;
  /** The end and duration of the last sweep, null before the first, and all deleted records, by kind. */
  sweeps: { endedAt: Millis | null; seconds: number; deleted: Readonly<Record<string, number>> };
  /** Null: the server makes none. */
  snapshots: {
    /** When the newest sound one was made; null: there is none. */
    soundAt: Millis | null;
    /**
     * If the newest one is not sound: when it was made, and its problems, which are null if it was made before this start. Null: it is sound, or
     * there is none.
     */
    unsound: { at: Millis; problems: string | null } | null;
    /** The size of the newest one. */
    bytes: number;
    /** Time that it took; 0 before the first since the start. */
    seconds: number;
    /** Attempts that failed since the start. */
    failures: number;
    /** True if the last attempt failed. */
    hasFailed: boolean;
  } | null;
  /** Summaries of builds that were written since the start, and builds that wait for theirs. */
  summaries: { written: number; waiting: number };
  /** Number of events sent to webhooks since the start, by result. */
  deliveries: Readonly<Record<string, number>>;
  /** Null without a certificate. */
  certificateExpiresAt: Millis | null;
}

/** The state of the server at one moment. */
export interface ServerState extends ProcessState {
  store: StoreLoad;
}

/** Status of a process, for the page of the server and for other processes. */
export interface ServerStatus {
  /** The machine and the address of this process. */
  name(): string;
  stateNow(): ProcessState;
  clients: SeenClients;
  refused: RefusedRequests;
  readiness: Context['readiness'];
  startedAt: Millis;
  retentionDays: number;
  now(): Millis;
}
