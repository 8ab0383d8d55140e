import type { RootDatabase } from 'lmdb';
import { Refusal, refusals } from '../../../engine/refusal.js';
import { sharedTurn } from '../../shared-turn.js';
import type { DiskSpaceGuard, Failure } from './failure.js';
import type { JournaledRuns } from './journaled-runs.js';

/** Records that are put before the turn of the event loop may end. The changes of 20 busy queues take a millisecond. */
const PUTS_PER_CHUNK = 20;
/** Chunks of puts that may wait for the disk: writes of other kinds come behind them. */
const CHUNKS_AHEAD = 100;

/** The parts of a store that a commit needs. */
export interface Committing {
  readonly root: RootDatabase;
  readonly diskSpace: Pick<DiskSpaceGuard, 'assert' | 'freeBytes'>;
  readonly failure: Pick<Failure, 'assert'>;
  readonly runs: Pick<JournaledRuns, 'put'>;
  /** Called after each flush, with the seconds since its change was requested. */
  readonly committed: (seconds: number) => void;
}

/**
 * Runs a change in a write transaction. Resolves with its result when it is flushed to disk (lmdb resolves writes after fdatasync), so
 * that it survives kill -9 and a power cut. Transactions run one after another, each sees what earlier ones wrote and all runs that were
 * recorded before, and many share one flush. A change must throw before its first write or not at all, because nothing is rolled back.
 * Throws a 503 when the write fails; failure.ts describes what happens to the process.
 */
export async function commit<T>(parts: Committing, change: () => T): Promise<T> {
  let changed = false;
  parts.diskSpace.assert();
  const transaction = parts.root.transaction(() => {
    parts.runs.put();
    const result = change();
    changed = true;
    return result;
  });
  return flushed(parts, transaction, () => changed);
}

/**
 * Resolves when the puts of this turn of the event loop, or a transaction, are flushed to disk, and no earlier commit failed. Throws a 503 when the
 * write fails. Its time counts in the metrics.
 *
 * @param isChanged false: the transaction threw before its first write
 */
export async function flushed<T>(
  { failure, committed }: Pick<Committing, 'failure' | 'committed'>,
  write: Promise<T>,
  isChanged?: () => boolean,
): Promise<T> {
  const begun = performance.now();
  const value = await written(write, isChanged);
  failure.assert();
  committed((performance.now() - begun) / 1000);
  return value;
}

/** Resolves when a put is flushed to disk. Throws a 503 when the write fails. @param isChanged see `flushed` */
export async function written<T>(put: Promise<T>, isChanged = () => true): Promise<T> {
  try {
    return await put;
  } catch (error) {
    throw isChanged() && !(error instanceof Refusal) ? refusals.storeFailed(error) : error;
  }
}

/**
 * Makes puts in turns of the event loop that are short, and has a bounded number of them wait for the disk, because whatever else is written
 * comes behind them. Resolves when all are on disk. Rejects when one failed and the others have ended.
 *
 * @param put null: this one needs no put
 */
export async function putInChunks<T>(all: Iterable<T>, put: (one: T) => Promise<boolean> | null): Promise<void> {
  // The puts of one turn are one transaction, so the last one of a chunk stands for all.
  const chunks: Promise<unknown>[] = [];
  let count = 0;
  let written: Promise<unknown> = Promise.resolve();
  try {
    for (const one of all) {
      written = put(one) ?? written;
      if (++count % PUTS_PER_CHUNK > 0) continue;
      // Its failure is thrown when it is awaited.
      written.catch(() => {});
      chunks.push(written);
      await sharedTurn();
      if (chunks.length >= CHUNKS_AHEAD) await chunks.shift();
    }
    await Promise.all([...chunks, written]);
  } catch (error) {
    await Promise.allSettled([...chunks, written]);
    throw error;
  }
}
