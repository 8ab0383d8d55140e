import { onTestFinished } from 'vitest';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { openLmdbStore } from '../../../../src/server/store/lmdb/store.js';
import type { QueueOptions } from '../../../../src/server/store/queue-cache.js';
import { cluster, emptyDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { newProject } from './fixtures.js';

/** For `describe.each`: `open` opens an empty store, which is closed after the test, and `opened` one with a project. */
const storeThat = (name: string, openStore: (options: QueueOptions) => Store | Promise<Store>) => {
  const open = async (options: Partial<QueueOptions> = {}): Promise<Store> => {
    const store = await openStore({ pullCost: 0, lease: null, ...options });
    onTestFinished(() => store.close());
    return store;
  };
  const opened = async (options: Partial<QueueOptions> = {}) => {
    const store = await open(options);
    return { store, project: await newProject(store) };
  };
  return { name, open, opened };
};

const lmdb = (cacheBytes: number) => (options: QueueOptions) => openLmdbStore(temporaryFolder(), { queues: { ...options, cacheBytes } });

/** A store in a database of its own. */
const postgresql = (cacheBytes: number) => async (options: QueueOptions) => openedStore(await emptyDatabase(), { ...options, cacheBytes });

/** The stores that must keep the contract. */
export const stores = [storeThat('LMDB', lmdb(1e9)), ...(cluster === null ? [] : [storeThat('PostgreSQL', postgresql(1e9))])];

/** The same for tests of queues. One of them reads every queue back for every request. */
export const queueStores = [
  ...stores,
  storeThat('LMDB without a cache', lmdb(1)),
  ...(cluster === null ? [] : [storeThat('PostgreSQL without a cache', postgresql(1))]),
];
