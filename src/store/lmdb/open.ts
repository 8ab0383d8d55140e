import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, open as openLmdb, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { LRUCache } from 'lru-cache';
import { limits } from '../../limits.js';
import { DiskSpaceGuard } from './disk-space-guard.js';
import { Failure } from './failure.js';
import { type Change, Journal, type TurnRecord } from './journal.js';
import { PathNumbers } from './path-numbers.js';
import type {
  BuildCountRecord,
  BuildRecord,
  ForecastRecord,
  Millis,
  ProjectRecord,
  QueueRecord,
  RunKey,
  SplitRecord,
  SplitRunRecord,
  TokenRecord,
} from './records.js';
import { lookAtStoreFile, type StoreFile } from './store-file.js';
import { TimingWriteBuffer } from './timing-write-buffer.js';

/** Raised when this Ballast writes what an older one would read wrongly. */
export const STORE_VERSION = 7;
/** Of that version what is read is the same. */
const OLDEST_VERSION = 5;

/**
 * One LMDB file, a table a line. Records are msgpack maps whose `v` is their version; times are Millis.
 *
 * table          key                                           value
 * meta           'version' | 'nextProject' | 'nextBuild' | 'readiness' | 'checkpoint' | 'known' | 'lastOrdinal'  number
 * projects       project (1, 2, ...)                           ProjectRecord
 * projectNames   name                                          project
 * tokens         first 32 hex digits of the token's SHA-256    TokenRecord
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
 * unlearnt       number                                        RunKey         runs not in timings yet
 * splits         digest(project, commit, branch, total, ci_build_id | null)      SplitRecord
 * splitRuns      [split id, digest(ci_build_id)]               SplitRunRecord when a CI build first asked for a fixed split
 * queues         queue id                                      QueueRecord
 * queuesOfNodeBuild                                            queue id
 *                digest(project, commit, branch, total, node_build_id)
 * queuesOfBuild  digest(project, commit, branch, total)        queue id       the newest
 * journalTurns   number                                        TurnRecord     see journal.ts
 * batches        [queue id, number of the last turn]           Change[]       what was changed of a queue, in order; 0: of a copy
 * blobs          [split id, node_index]                        the answer to the node, as JSON
 *                [queue id, block]                             some of its test files, see file-blocks.ts
 *                [queue id, 'weights']                         of all of them, in descending order
 * forecasts      split id | queue id                           ForecastRecord
 * expiry         [time, kind, ...key]                          true       see expiry.ts
 *
 * filter = digest(project, commit_hash | null, branch | null, node_total | null)
 */
export interface Store {
  readonly root: RootDatabase;
  readonly meta: Database<number, string>;
  readonly projects: Database<ProjectRecord, number>;
  readonly projectNames: Database<number, string>;
  readonly tokens: Database<TokenRecord, string>;
  readonly builds: Database<BuildRecord, number>;
  readonly buildNumbers: Database<number, string>;
  readonly buildIndex: Database<number, [filter: string, place: number]>;
  readonly buildCounts: Database<BuildCountRecord, string>;
  readonly buildGaps: Database<number, [filter: string, block: number]>;
  readonly subsets: Database<Buffer, RunKey>;
  readonly paths: Database<number, string>;
  readonly pathNames: Database<string, number>;
  readonly timings: Database<Buffer, number>;
  readonly unlearnt: Database<RunKey, number>;
  readonly splits: Database<SplitRecord, string>;
  readonly splitRuns: Database<SplitRunRecord, [split: string, ci_build: string]>;
  readonly queues: Database<QueueRecord, string>;
  readonly queuesOfNodeBuild: Database<string, string>;
  readonly queuesOfBuild: Database<string, string>;
  readonly journalTurns: Database<TurnRecord, number>;
  readonly batches: Database<Change[], [queue: string, turn: number]>;
  readonly blobs: Database<Buffer, [owner: string, part: number | string]>;
  readonly forecasts: Database<ForecastRecord, string>;
  readonly expiry: Database<true, ExpiryKey>;
  readonly numbers: PathNumbers;
  /** What is not in `batches` yet. */
  readonly journal: Journal;
  /** What is not in `timings` yet. */
  readonly recent: TimingWriteBuffer;
  readonly room: DiskSpaceGuard;
  /** CI builds of which `splitRuns` is known to have the first use of a split: "split id ci_build_id". */
  readonly splitUsers: LRUCache<string, true>;
  /** Blocks of the files of queues, as they lie in `blobs`: "queue id block". */
  readonly blocksRead: LRUCache<string, Buffer>;
  readonly failure: Failure;
  readonly committed: Committed;
  /** What is being made: see create-once.ts. */
  readonly installing: Map<string, Promise<unknown>>;
}

/** Told of each change how many seconds its flush to disk took. */
export type Committed = (seconds: number) => void;

export type ExpiryKey = [time: Millis, kind: string, ...key: (string | number)[]];

/**
 * Opens the store in the folder, made if missing. Throws a sentence when that cannot be.
 * @param failed told when the disk fails it: nothing may be hoped of this process then, see failure.ts
 */
export function openStore(dataDir: string, failed: (error: Error) => void = () => {}, committed: Committed = () => {}): Store {
  storeFileOf(dataDir);
  assertLockFile(dataDir);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // lmdb would end the process without a word where it cannot make its lock file.
    if (!existsSync(lockFileOf(dataDir))) accessSync(dataDir, constants.W_OK);
    return open(dataDir, failed, committed);
  } catch (error) {
    throw new Error(`cannot open the store in ${dataDir}: ${reasonOf(error as Error)}`, { cause: error });
  }
}

function reasonOf(error: Error): string {
  // LMDB tells processes apart by their ids; lmdb only trips over the transaction that it did not get.
  if (error instanceof TypeError)
    return 'a process of the same id has it open, in another container; run commands in the container of the server';
  const { message } = error;
  return 'code' in error ? `${message}; BALLAST_DATA_DIR (--data-dir) must name a folder that this user may write to` : message;
}

/** The file of the store in the folder, null when there is none. Throws a sentence when it cannot be one. */
export function storeFileOf(dataDir: string): StoreFile | null {
  const path = join(dataDir, STORE_FILE);
  try {
    return lookAtStoreFile(path);
  } catch (error) {
    throw new Error(`cannot open ${path}: ${(error as Error).message}; put a backup in its place, or begin anew with another folder`, {
      cause: error,
    });
  }
}

/**
 * Throws a sentence when the lock file may not be used: lmdb would end the process without a word. It is not opened for that,
 * because to close it again would let go of all locks on it.
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

/** Closes the store. */
export async function closeStore(store: Store): Promise<void> {
  // What cannot be written is found at the next start.
  await store.recent.close().catch(() => {});
  await store.journal.close().catch(() => {});
  // What nobody waits for may be on its way, and lmdb does not look whether it is closed.
  await nextTurn();
  await Promise.resolve(store.root.flushed).catch(() => {});
  await store.root.close();
}

export function hasStore(dataDir: string): boolean {
  return existsSync(join(dataDir, STORE_FILE));
}

export const STORE_FILE = 'ballast.lmdb';
const MAP_BYTES = 2 ** 34;

function open(dataDir: string, failed: (error: Error) => void, committed: Committed): Store {
  // safeRestore (missing from lmdb's types): after a power cut only what was flushed is trusted.
  const options: RootDatabaseOptionsWithPath & { safeRestore: boolean } = {
    path: join(dataDir, STORE_FILE),
    noSubdir: true,
    maxDbs: 32,
    safeRestore: true,
    // Room in the address space, not on disk or in memory: when a map is outgrown, lmdb keeps it beside the next.
    mapSize: MAP_BYTES,
    compression: true,
  };
  const root = openLmdb(options);
  const table = <V, K extends import('lmdb').Key>(name: string) => root.openDB<V, K>({ name });
  const tables = {
    root,
    meta: table('meta'),
    projects: table('projects'),
    projectNames: table('projectNames'),
    tokens: table('tokens'),
    builds: table('builds'),
    buildNumbers: table('buildNumbers'),
    buildIndex: table('buildIndex'),
    buildCounts: table('buildCounts'),
    buildGaps: table('buildGaps'),
    // What hardly shrinks is not compressed: that would take time for nothing.
    subsets: root.openDB({ name: 'subsets', encoding: 'binary', compression: false }),
    paths: table('paths'),
    pathNames: root.openDB({ name: 'pathNames', encoding: 'string', keyEncoding: 'uint32' }),
    timings: root.openDB({ name: 'timings', encoding: 'binary', keyEncoding: 'uint32', compression: false }),
    unlearnt: table('unlearnt'),
    splits: table('splits'),
    splitRuns: table('splitRuns'),
    queues: table('queues'),
    queuesOfNodeBuild: table('queuesOfNodeBuild'),
    queuesOfBuild: table('queuesOfBuild'),
    // Not compressed: an answer waits for it, and it is gone in a second.
    journalTurns: root.openDB({ name: 'journalTurns', compression: false }),
    batches: table('batches'),
    blobs: root.openDB({ name: 'blobs', encoding: 'binary' }),
    forecasts: table('forecasts'),
    expiry: table('expiry'),
  } satisfies Omit<Store, 'numbers' | 'journal' | 'recent' | 'room' | 'failure' | 'committed' | 'installing' | 'splitUsers' | 'blocksRead'>;
  const numbers = new PathNumbers(tables);
  const room = new DiskSpaceGuard(dataDir);
  const failure = new Failure(root, failed);
  const journal = new Journal({ ...tables, room, failure, committed });
  const recent = new TimingWriteBuffer({ ...tables, numbers, room });
  const splitUsers = new LRUCache<string, true>({ max: limits.cachedSplitUsers });
  const blocksRead = new LRUCache<string, Buffer>({ maxSize: limits.fileBlockCacheBytes, sizeCalculation: ({ length }) => length });
  const store: Store = { ...tables, numbers, journal, recent, room, failure, committed, installing: new Map(), splitUsers, blocksRead };
  const version = store.meta.get('version');
  if (version === undefined) {
    store.meta.putSync('version', STORE_VERSION);
  } else if (version > STORE_VERSION || version < OLDEST_VERSION) {
    void root.close();
    throw new Error(`it has version ${version}, and this Ballast reads version ${STORE_VERSION}: start the Ballast that wrote it`);
  }
  return store;
}
