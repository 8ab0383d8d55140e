import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { CACHED_SPLIT_USERS } from '../../engine/splits.js';
import { type NameOfPath, PathNumbers, pathNameCache } from './path-numbers.js';
import { openTables, type Tables } from './tables.js';
import type { Committing } from './writes/commit.js';
import { DiskSpaceGuard, Failure } from './writes/failure.js';
import { Journal } from './writes/journal.js';
import { JournalFiles } from './writes/journal-files.js';
import { JournaledRuns } from './writes/journaled-runs.js';
import { TimingWriteBuffer } from './writes/timing-write-buffer.js';

/** The tables of an open store, and the parts that read and write them. The groups of the port are made of these parts. */
export interface Parts extends Tables, Committing {
  readonly failure: Failure;
  readonly diskSpace: DiskSpaceGuard;
  readonly pathNumbers: PathNumbers;
  readonly nameOfPath: NameOfPath;
  /** Changes that are not in `batches` yet. */
  readonly journal: Journal;
  /** Recorded runs that are not in the tables yet. */
  readonly runs: JournaledRuns;
  /** Times that are not in `timings` yet. */
  readonly timingBuffer: TimingWriteBuffer;
  /** The runs that are being recorded in several turns of the event loop. */
  readonly recordings: Set<Promise<unknown>>;
  /** The last large run of each project that is being recorded. */
  readonly largeRuns: Map<number, Promise<unknown>>;
  /** A cache of CI runs whose first use of a split is in `splitRuns`: split id, a blank, ci_build_id. */
  readonly splitUsers: LRUCache<string, true>;
  /** The creations under way: see create-once.ts. */
  readonly creations: Map<string, Promise<unknown>>;
}

export interface PartsOptions {
  /** Called when the disk fails a write. The process can no longer use the store then: see failure.ts. */
  storeFailed?: (error: Error) => void;
  /** Called with the seconds that each change took until it was flushed to disk. */
  committed?: (seconds: number) => void;
}

/** Opens the store in a folder, which is created if missing. Throws a sentence when that fails. */
export function openParts(dataDir: string, { storeFailed = () => {}, committed = () => {} }: PartsOptions = {}): Parts {
  const tables = openTables(dataDir);
  const diskSpace = new DiskSpaceGuard(dataDir);
  const failure = new Failure(tables.root, storeFailed);
  const writing = { ...tables, diskSpace, failure, committed };
  const pathNumbers = new PathNumbers(tables);
  const timingBuffer = new TimingWriteBuffer({ ...writing, pathNumbers });
  const runs = new JournaledRuns(tables, timingBuffer);
  return {
    ...writing,
    pathNumbers,
    nameOfPath: pathNameCache(tables),
    timingBuffer,
    runs,
    journal: new Journal(writing, new JournalFiles(dataDir, failure), runs),
    splitUsers: new LRUCache({ max: CACHED_SPLIT_USERS }),
    recordings: new Set(),
    largeRuns: new Map(),
    creations: new Map(),
  };
}

/** Writes the changes that are only in memory, and closes the store. */
export async function closeParts({ runs, timingBuffer, recordings, journal, root }: Parts): Promise<void> {
  timingBuffer.end();
  while (recordings.size > 0) await Promise.allSettled(recordings);
  // Changes that cannot be written now are recovered at the next start.
  await runs.close().catch(() => {});
  await timingBuffer.close().catch(() => {});
  await journal.close().catch(() => {});
  // Writes without a caller may be under way, and lmdb does not check whether it is closed.
  await nextTurn();
  await Promise.resolve(root.flushed).catch(() => {});
  await root.close();
}
