import { onTestFinished } from 'vitest';
import { type LmdbStore, openLmdbStore } from '../../src/server/store/lmdb/store.js';
import type { QueueOptions } from '../../src/server/store/queue-cache.js';
import { memoryFolder } from './temporary-folder.js';

/** An empty store in a folder in memory, closed after the test. */
export function memoryStore(options: Partial<QueueOptions & { cacheBytes: number }> = {}): LmdbStore {
  const store = openLmdbStore(memoryFolder(), { queues: { pullCost: 0, lease: null, cacheBytes: 1e9, ...options } });
  onTestFinished(() => store.close());
  return store;
}
