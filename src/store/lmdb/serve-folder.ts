import type { FileLock } from '../../file-lock.js';
import { limits } from '../../limits.js';
import type { Logger } from '../../server/log.js';
import { lockFolder } from './lock.js';
import { type LmdbOptions, type LmdbStore, openLmdbStore } from './store.js';
import { STORE_VERSION, type Tables } from './tables.js';
import { applyPendingRuns } from './writes/apply-times.js';
import { commit } from './writes/commit.js';

/**
 * Opens the store in a folder for the one process that serves it: takes the lock of the folder, and finishes the work that the last
 * process left. Throws a sentence when that fails. The threads of the server open the same folder with `openLmdbStore`.
 */
export async function serveFolder(dataDir: string, log: Logger, options: LmdbOptions = {}): Promise<LmdbStore> {
  const store = openLmdbStore(dataDir, options);
  const { parts } = store;
  let lock: FileLock | null = null;
  let readers: NodeJS.Timeout | undefined;
  const close = async () => {
    clearInterval(readers);
    await store.close();
    // The lock is released last, because the next server reads what this one wrote.
    lock?.release();
  };
  try {
    lock = lockFolder(dataDir);
    const { meta } = parts;
    if (meta.get('version') !== STORE_VERSION) await commit(parts, () => void meta.put('version', STORE_VERSION));
    await applyPendingRuns(parts, log);
    parts.journal.recover();
    readers = setInterval(() => clearDeadReaders(parts, log), limits.staleReadersMilliseconds);
    return { ...store, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Clears the read locks of killed processes: LMDB keeps every page of the state that such a process was reading. A lock on the
 * lock file, not a process id, shows that a reader is dead, so this also works for processes in other containers.
 */
function clearDeadReaders({ root }: Pick<Tables, 'root'>, log: Logger): void {
  try {
    const readers = root.readerCheck();
    if (readers > 0) log.info({ readers }, 'cleared the read locks of a process that ended without closing the store');
  } catch (err) {
    log.error({ err }, 'could not clear the read locks of killed processes');
  }
}
