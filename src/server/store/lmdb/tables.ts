import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, type Key, open as openLmdb, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import type { Token } from '../../engine/ports/access.js';
import type { CiRun, NotedNode, SparedCiRun } from '../../engine/ports/ci-runs.js';
import type { Link, Session } from '../../engine/ports/sign-ins.js';
import type { Split, SplitUse } from '../../engine/ports/splits.js';
import type { Millis } from '../../engine/ports/store.js';
import type { DaySummary, Summary } from '../../engine/ports/summaries.js';
import type { KeptValues } from '../../engine/ports/values.js';
import type { BatchSums } from '../../planning/batching/batch-cost.js';
import type { Mode } from '../../planning/estimating/estimate.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';
import type { EncodedPart } from '../codecs/plan-parts.js';
import { newerFormat, UPGRADING } from '../format.js';
import { openAlone } from './folder/open-lock.js';
import { readStoreFile, type StoreFile } from './folder/store-file.js';
import type {
  BuildRecord,
  CasesKey,
  CasesRecord,
  CiRunKey,
  DayKey,
  DeliveryKey,
  DeliveryRecord,
  ExpiryKey,
  ExpiryProgress,
  ProjectRecord,
  QueueRecord,
  RunKey,
  RunRecord,
} from './records.js';

/** Raised when an older Ballast would misread the records of this one. src/docs/reference/changelog.md lists the changes. */
export const STORE_VERSION = 1;

export const STORE_FILE = 'ballast.lmdb';
const MAP_BYTES = 2 ** 34;

/**
 * Reads bytes without a copy: they are valid until the next read. A plan reads the timings of all files of a suite, and to copy each takes
 * three times as long as to read it.
 */
const TRANSIENT: object = { encoder: { encode: (bytes: Buffer) => bytes, decode: (bytes: Buffer) => bytes } };

export type Tables = Readonly<ReturnType<typeof tablesIn>>;

/**
 * The tables of the LMDB file; the journal is beside it, see writes/journal.ts. Records are msgpack maps, times are Millis, and a digest is
 * one of server/engine/keys.ts.
 */
function tablesIn(root: RootDatabase) {
  const table = <V, K extends Key>(name: string, options: object = {}): Database<V, K> => root.openDB<V, K>({ name, ...options });
  return {
    root,
    /** 'version', 'nextProject', 'nextBuild', 'readiness', 'checkpoint', 'recorded', 'lastOrdinal', 'journal'. */
    meta: table<number, string>('meta'),
    /** By number, from 1. */
    projects: table<ProjectRecord, number>('projects'),
    /** By name. */
    projectNames: table<number, string>('projectNames'),
    /** By the first 32 hex digits of the token's SHA-256; links and sessions of the dashboard likewise. */
    tokens: table<Token, string>('tokens'),
    links: table<Link, string>('links'),
    sessions: table<Session, string>('sessions'),
    values: table<KeptValues[keyof KeptValues], keyof KeptValues>('values'),
    /** By number, from 1. */
    builds: table<BuildRecord, number>('builds'),
    /** By the id of the build, and by its buildDigest. */
    buildNumbers: table<number, string>('buildNumbers'),
    /** Under each filter that finds a build, see build-index.ts. */
    buildIndex: table<true, [filter: string, build: number]>('buildIndex'),
    /** The number of keys of each filter in `buildIndex`. */
    buildCounts: table<number, string>('buildCounts'),
    /** Recorded runs. Not compressed, because times hardly shrink. */
    subsets: table<RunRecord, RunKey>('subsets', { compression: false }),
    /** The numbers of paths, from 1, by their keys; see path-keys.ts. */
    paths: table<number, string>('paths'),
    /** Paths as JSON, by number. */
    pathNames: table<string, number>('pathNames', { encoding: 'string', keyEncoding: 'uint32' }),
    /** By the number of the path, see timing-codec.ts. What is read is valid until the next read. */
    timings: table<Buffer, number>('timings', { ...TRANSIENT, keyEncoding: 'uint32', compression: false }),
    /** The runs that one transaction put, and whose times are not in `timings` yet, by the number (RunToPut.entry) of the last of them. */
    pendingRuns: table<RunKey[], number>('pendingRuns'),
    /** By the digest of a SplitKey. */
    splits: table<Split, string>('splits'),
    /** When a CI run first asked for a fixed split. */
    splitRuns: table<SplitUse, [split: string, ciRunDigest: string]>('splitRuns'),
    /** By id. */
    queues: table<QueueRecord, string>('queues'),
    /** The id of a queue, by the digest of its QueueKey. */
    queuesOfNodeBuild: table<string, string>('queuesOfNodeBuild'),
    /** The id of the newest queue, by buildDigest. */
    queuesOfBuild: table<string, string>('queuesOfBuild'),
    /** Sums that the queues of a project observed of their batches, by project. */
    batchCosts: table<BatchSums, [project: number, mode: Mode]>('batchCosts'),
    ciRuns: table<CiRun, CiRunKey>('ciRuns'),
    /** By id. */
    ciRunKeys: table<[project: number, created_at: Millis], string>('ciRunKeys'),
    /** The project, by buildDigest. */
    ciRunsOfBuild: table<number, [build: string, created_at: Millis, id: string]>('ciRunsOfBuild'),
    /** The CI runs with a tree. */
    ciRunsOfTree: table<true, [project: number, tree: string, created_at: Millis, id: string]>('ciRunsOfTree'),
    /** What the nodes of CI runs told of themselves. */
    nodes: table<Omit<NotedNode, 'node_index'>, [ciRun: string, node_index: number]>('nodes'),
    /** The CI runs that one has proved, by `sparedKey`. */
    spared: table<SparedCiRun, [ciRun: string, key: string]>('spared'),
    /** Summaries of CI runs that ended, and of whose builds nothing was recorded. */
    unrecorded: table<Summary, CiRunKey>('unrecorded'),
    /** Encoded changes of a queue in order, by the last record of the journal that has one of them; 0: the batches of a copy. */
    batches: table<Buffer[], [queue: string, record: number]>('batches'),
    /** The blocks of files of a split or queue, by number, and its other parts, by name; see plan-parts.ts and file-blocks.ts. */
    blobs: table<Buffer, [owner: string, part: EncodedPart['part']]>('blobs', { encoding: 'binary', compression: false }),
    /** By the id of a split or queue. Apart from its plan, because no pull reads a forecast. */
    forecasts: table<Forecast, string>('forecasts'),
    /** By the number of the build. */
    summaries: table<Summary, number>('summaries'),
    /** What failed in builds, see store/codecs/failures.ts. */
    failures: table<Buffer, [project: number, build: number]>('failures', { encoding: 'binary', compression: false }),
    days: table<DaySummary, DayKey>('days'),
    deliveries: table<DeliveryRecord, DeliveryKey>('deliveries'),
    cases: table<CasesRecord, CasesKey>('cases'),
    /** See expiry.ts. */
    expiry: table<true | ExpiryProgress, ExpiryKey>('expiry'),
  };
}

/** Opens the tables in a folder, which is created if missing. Throws a sentence when that fails. */
export function openTables(dataDir: string): Tables {
  storeFileOf(dataDir);
  assertLockFile(dataDir);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // lmdb ends the process without a message when it cannot create its lock file.
    if (!existsSync(lockFileOf(dataDir))) accessSync(dataDir, constants.W_OK);
    return open(dataDir);
  } catch (error) {
    throw new Error(`cannot open the store in ${dataDir}: ${reasonOf(error as Error)}`, { cause: error });
  }
}

function reasonOf(error: Error): string {
  // LMDB identifies processes by their ids; lmdb then fails on the transaction that it did not get.
  if (error instanceof TypeError)
    return 'a process with the same id has it open, in another container; run commands in the container of the server';
  const { message } = error;
  return 'code' in error ? `${message}; BALLAST_DATA_DIR (--data-dir) must name a folder that this user may write to` : message;
}

export function hasStore(dataDir: string): boolean {
  return existsSync(join(dataDir, STORE_FILE));
}

/** The file of the store in a folder; null: there is none. Throws a sentence when the file is no store. */
export function storeFileOf(dataDir: string): StoreFile | null {
  const path = join(dataDir, STORE_FILE);
  try {
    return readStoreFile(path);
  } catch (error) {
    throw new Error(`cannot open ${path}: ${(error as Error).message}; put a backup in its place, or start with another folder`, {
      cause: error,
    });
  }
}

/**
 * Throws a sentence when the lock file cannot be used: lmdb would end the process without a message. The check does not open the
 * file, because closing it again would release all locks on it.
 */
function assertLockFile(dataDir: string): void {
  const path = lockFileOf(dataDir);
  if (!existsSync(path)) return;
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new Error(
      `cannot open ${path}: this user may not read and write it (${(error as NodeJS.ErrnoException).code}); ` +
        'run every command as the user of the server, and give the file to that user (chown) or delete it while nothing uses the store',
      { cause: error },
    );
  }
}

const lockFileOf = (dataDir: string) => join(dataDir, `${STORE_FILE}-lock`);

function open(dataDir: string): Tables {
  // safeRestore (missing from lmdb's types): after a power cut only flushed data is trusted.
  const options: RootDatabaseOptionsWithPath & { safeRestore: boolean } = {
    path: join(dataDir, STORE_FILE),
    noSubdir: true,
    maxDbs: 64,
    safeRestore: true,
    // Address space, not disk or memory: when a map is outgrown, lmdb keeps it beside the next one.
    mapSize: MAP_BYTES,
    compression: true,
  };
  const root = openAlone(join(dataDir, 'open.lock'), () => openLmdb(options));
  const tables = tablesIn(root);
  const version = tables.meta.get('version');
  if (version === undefined) {
    tables.meta.putSync('version', STORE_VERSION);
  } else if (version !== STORE_VERSION) {
    const program = (tables.values.get('program') as string | undefined) ?? null;
    void root.close();
    throw new Error(
      version > STORE_VERSION
        ? newerFormat('version', version, STORE_VERSION, program)
        : `it has version ${version}, and this Ballast reads version ${STORE_VERSION}: run "ballast export" with the Ballast that wrote it, and "ballast import" into an empty folder; see ${UPGRADING}`,
    );
  }
  return tables;
}
