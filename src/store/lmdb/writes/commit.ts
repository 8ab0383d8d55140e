import type { RootDatabase } from 'lmdb';
import { ApiError, apiErrors } from '../../../api-error.js';
import type { DiskSpaceGuard } from './disk-space-guard.js';
import type { Failure } from './failure.js';

/** What a commit needs. */
export interface Committing {
  readonly root: RootDatabase;
  readonly diskSpace: Pick<DiskSpaceGuard, 'assert' | 'freeBytes'>;
  readonly failure: Pick<Failure, 'assert'>;
  /** Called with the seconds that each change took until it was flushed to disk. */
  readonly committed: (seconds: number) => void;
}

/**
 * Runs the change in a write transaction, and resolves with its result when that is flushed to disk (lmdb resolves writes
 * after fdatasync): it then survives kill -9 and a power cut. Transactions run one after the other, and each sees what earlier
 * ones wrote; many share one flush. A change must throw before its first write or not at all: nothing is rolled back.
 * Throws a 503 when the disk does not take it; failure.ts says what that means for the process.
 */
export async function commit<T>({ root, diskSpace, failure, committed }: Committing, change: () => T): Promise<T> {
  let changed = false;
  diskSpace.assert();
  const begun = performance.now();
  let value: T;
  try {
    value = await root.transaction(() => {
      const result = change();
      changed = true;
      return result;
    });
  } catch (error) {
    throw changed ? apiErrors.storeFailed(error) : error;
  }
  failure.assert();
  committed((performance.now() - begun) / 1000);
  return value;
}

/** Resolves when a put is flushed to disk. Throws a 503 when the disk does not take it. */
export async function written(put: Promise<unknown>): Promise<void> {
  try {
    await put;
  } catch (error) {
    throw error instanceof ApiError ? error : apiErrors.storeFailed(error);
  }
}
