import { onTestFinished } from 'vitest';
import type { Store } from '../../../src/engine/ports/store.js';
import type { QueueOptions } from '../../../src/store/lmdb/queue-cache.js';
import { openLmdbStore } from '../../../src/store/lmdb/store.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

/** The stores that must keep the contract. Add a store here. */
const openers: Record<string, (options: QueueOptions) => Store> = {
  LMDB: options => openLmdbStore(temporaryFolder(), { queues: { ...options, cacheBytes: 1e9 } }),
  // Every queue is read back for every request.
  'LMDB without a cache': options => openLmdbStore(temporaryFolder(), { queues: { ...options, cacheBytes: 1 } }),
};

/** For `describe.each`: `open` opens an empty store, which is closed after the test. */
export const stores = Object.entries(openers).map(([name, openStore]) => ({
  name,
  open(options: Partial<QueueOptions> = {}): Store {
    const store = openStore({ pullCost: 0, lease: null, ...options });
    onTestFinished(() => store.close());
    return store;
  },
}));
