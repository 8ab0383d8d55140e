import { ApiError, apiErrors } from '../../api-error.js';
import type { Parts } from './open.js';

/**
 * Runs the change in a write transaction and returns its result once it is flushed to disk (lmdb resolves what it wrote
 * behind fdatasync): it survives kill -9 and a power cut. Transactions run one after the other and each sees what those
 * before it wrote; many share one flush. A change must throw before its first write or not at all: nothing is rolled
 * back. Throws a 503 when the disk does not take it; what then becomes of the process is told in failure.ts.
 */
export async function commit<T>(store: Parts, change: () => T): Promise<T> {
  let changed = false;
  store.diskSpace.assert();
  const begun = performance.now();
  let value: T;
  try {
    value = await store.root.transaction(() => {
      const result = change();
      changed = true;
      return result;
    });
  } catch (error) {
    throw changed ? apiErrors.storeFailed(error) : error;
  }
  store.failure.assert();
  store.committed((performance.now() - begun) / 1000);
  return value;
}

/** Resolves when what was put is flushed to disk. Throws a 503 when the disk does not take it. */
export async function written(put: Promise<unknown>): Promise<void> {
  try {
    await put;
  } catch (error) {
    throw error instanceof ApiError ? error : apiErrors.storeFailed(error);
  }
}
