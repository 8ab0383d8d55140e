import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, type Key, open as openLmdb, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import type { Millis } from '../../engine/ports/store.js';
import { openAlone } from './open-lock.js';
import type {
  BuildCountRecord,
  BuildRecord,
  CiRunKey,
  CiRunRecord,
  DayRecord,
  ExpiryProgress,
  ForecastRecord,
  LinkRecord,
  PasswordRecord,
  PendingRunsRecord,
  ProjectRecord,
  QueueRecord,
  RunKey,
  SessionRecord,
  SplitRecord,
  SplitRunRecord,
  SummaryRecord,
  TokenRecord,
} from './records.js';
import { readStoreFile, type StoreFile } from './store-file.js';

/** Raised when an older Ballast would misread the records of this one. src/docs/changelog.md lists the changes. */
export const STORE_VERSION = 1;

/**
 * One LMDB file, one table per line; the journal is beside it, see writes/journal.ts. Records are msgpack maps whose `v` is their version;
 * times are Millis.
 *
 * table          key                                           value
 * meta           'version' | 'nextProject' | 'nextBuild' | 'readiness' | 'checkpoint' | 'recorded' | 'known' | 'lastOrdinal' | 'backup' | 'journal'  number
 * projects       project (1, 2, ...)                           ProjectRecord
 * projectNames   name                                          project
 * tokens         first 32 hex digits of the token's SHA-256    TokenRecord
 * links          the same of a sign-in link                    LinkRecord
 * sessions       the same of a session of the dashboard        SessionRecord
 * dashboard      'password'                                    PasswordRecord
 *                'address'                                     string         the address at the last start
 * builds         build number (1, 2, ...)                      BuildRecord
 * buildNumbers   build id                                      build number
 *                digest(project, commit, branch, total)        build number
 * buildIndex     [filter, place]                               build number   see build-index.ts
 * buildCounts    filter                                        BuildCountRecord
 * buildGaps      [filter, block of places]                     number of builds gone from it
 * subsets        [build number, node_index, run]               bytes          see subset-codec.ts
 * paths          see path-keys.ts                              path number (1, 2, ...)
 * pathNames      path number                                   the path as JSON
 * timings        path number                                   bytes          see timing-codec.ts
 * pendingRuns    number                                        PendingRunsRecord
 * splits         digest(project, commit, branch, total, ci_build_id | null)      SplitRecord
 * splitRuns      [split id, digest(ci_build_id)]               SplitRunRecord when a CI build first asked for a fixed split
 * queues         queue id                                      QueueRecord
 * queuesOfNodeBuild                                            queue id
 *                digest(project, commit, branch, total, node_build_id)
 * queuesOfBuild  digest(project, commit, branch, total)        queue id       the newest
 * ciRuns         [project, created_at, id]                     CiRunRecord
 * ciRunKeys      id                                            [project, created_at]
 * ciRunsOfBuild  [digest(project, commit, branch, total), created_at, id]        project
 * batches        [queue id, last record of the journal]        Buffer[]       the changes of a queue, in order, see batch-codec.ts; 0: of a copy
 * blobs          [split id, node_index]                        the test files of this node and some after it, see split-files.ts
 *                [queue id, first file / 64]                   some of its test files, see file-blocks.ts
 *                [queue id, 'weights']                         the weights of all of them, in descending order
 *                [split id | queue id, 'basis']                what their estimates rest on, see plan-basis.ts
 * forecasts      split id | queue id                           ForecastRecord
 * summaries      build number                                  SummaryRecord
 * days           [project, digest(branch) | '', day]           DayRecord      '': all branches together
 * expiry         [time, kind, ...key]                          true | ExpiryProgress     see expiry.ts
 *
 * filter = digest(project, commit_hash | null, branch | null, node_total | null)
 */
export interface Tables {
  readonly root: RootDatabase;
  readonly meta: Database<number, string>;
  readonly projects: Database<ProjectRecord, number>;
  readonly projectNames: Database<number, string>;
  readonly tokens: Database<TokenRecord, string>;
  readonly links: Database<LinkRecord, string>;
  readonly sessions: Database<SessionRecord, string>;
  readonly dashboard: Database<PasswordRecord | string, 'password' | 'address'>;
  readonly builds: Database<BuildRecord, number>;
  readonly buildNumbers: Database<number, string>;
  readonly buildIndex: Database<number, [filter: string, place: number]>;
  readonly buildCounts: Database<BuildCountRecord, string>;
  readonly buildGaps: Database<number, [filter: string, block: number]>;
  readonly subsets: Database<Buffer, RunKey>;
  readonly paths: Database<number, string>;
  readonly pathNames: Database<string, number>;
  /** What is read is valid until the next read. */
  readonly timings: Database<Buffer, number>;
  readonly pendingRuns: Database<PendingRunsRecord, number>;
  readonly splits: Database<SplitRecord, string>;
  readonly splitRuns: Database<SplitRunRecord, [split: string, ci_build: string]>;
  readonly queues: Database<QueueRecord, string>;
  readonly queuesOfNodeBuild: Database<string, string>;
  readonly queuesOfBuild: Database<string, string>;
  readonly ciRuns: Database<CiRunRecord, CiRunKey>;
  readonly ciRunKeys: Database<[project: number, created_at: Millis], string>;
  readonly ciRunsOfBuild: Database<number, [build: string, created_at: Millis, id: string]>;
  readonly batches: Database<Buffer[], [queue: string, turn: number]>;
  readonly blobs: Database<Buffer, [owner: string, part: number | string]>;
  readonly forecasts: Database<ForecastRecord, string>;
  readonly summaries: Database<SummaryRecord, number>;
  readonly days: Database<DayRecord, DayKey>;
  readonly expiry: Database<true | ExpiryProgress, ExpiryKey>;
}

/** The day in whole days since 1970, UTC. */
export type DayKey = [project: number, branch: string, day: number];

export type ExpiryKey = [time: Millis, kind: string, ...key: (string | number)[]];

export const STORE_FILE = 'ballast.lmdb';
const MAP_BYTES = 2 ** 34;

/**
 * Reads bytes without a copy: they are valid until the next read. A plan reads the timings of all files of a suite, and to copy each takes
 * three times as long as to read it.
 */
const TRANSIENT: object = { encoder: { encode: (bytes: Buffer) => bytes, decode: (bytes: Buffer) => bytes } };

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
  const table = <V, K extends Key>(name: string) => root.openDB<V, K>({ name });
  const tables: Tables = {
    root,
    meta: table('meta'),
    projects: table('projects'),
    projectNames: table('projectNames'),
    tokens: table('tokens'),
    links: table('links'),
    sessions: table('sessions'),
    dashboard: table('dashboard'),
    builds: table('builds'),
    buildNumbers: table('buildNumbers'),
    buildIndex: table('buildIndex'),
    buildCounts: table('buildCounts'),
    buildGaps: table('buildGaps'),
    // Not compressed, because its values hardly shrink.
    subsets: root.openDB({ name: 'subsets', encoding: 'binary', compression: false }),
    paths: table('paths'),
    pathNames: root.openDB({ name: 'pathNames', encoding: 'string', keyEncoding: 'uint32' }),
    timings: root.openDB({ name: 'timings', ...TRANSIENT, keyEncoding: 'uint32', compression: false }),
    pendingRuns: table('pendingRuns'),
    splits: table('splits'),
    splitRuns: table('splitRuns'),
    queues: table('queues'),
    queuesOfNodeBuild: table('queuesOfNodeBuild'),
    queuesOfBuild: table('queuesOfBuild'),
    ciRuns: table('ciRuns'),
    ciRunKeys: table('ciRunKeys'),
    ciRunsOfBuild: table('ciRunsOfBuild'),
    batches: table('batches'),
    blobs: root.openDB({ name: 'blobs', encoding: 'binary' }),
    forecasts: table('forecasts'),
    summaries: table('summaries'),
    days: table('days'),
    expiry: table('expiry'),
  };
  const version = tables.meta.get('version');
  if (version === undefined) {
    tables.meta.putSync('version', STORE_VERSION);
  } else if (version !== STORE_VERSION) {
    void root.close();
    throw new Error(
      `it has version ${version}, and this Ballast reads version ${STORE_VERSION}: run "ballast export" with the Ballast that wrote it, and "ballast import" into an empty folder`,
    );
  }
  return tables;
}
