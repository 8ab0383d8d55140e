import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { FileLock } from '../../../../base/locks.js';
import { type LmdbOptions, type LmdbStore, openLmdbStore } from '../store.js';
import type { Tables } from '../tables.js';
import { applyPendingRuns } from '../writes/apply-times.js';
import { written } from '../writes/commit.js';
import { JOURNAL_FILES } from '../writes/journal-files.js';
import { lockFolder } from './open-lock.js';

/** Interval of clearing the read locks of killed processes. While one exists, each write enlarges the store. Clearing takes 1 us. */
const STALE_READERS_MILLISECONDS = 1000;

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
    await applyPendingRuns(parts, log);
    const { meta, journal } = parts;
    if (meta.get('journal') !== undefined && JOURNAL_FILES.every(name => !existsSync(join(dataDir, name))))
      log.warn({ dataDir }, 'the files of the journal are gone, and with them the changes that were not in the store yet');
    const isNew = meta.get('journal') === undefined;
    journal.recover();
    // The id is on disk before the first record, which is found only by it: this write is flushed after that of the id.
    if (isNew) await written(meta.put('journal', meta.get('journal')!));
    await parts.runs.settle();
    // What was read may be on no disk: after a failed write, the system may keep it in memory and never write it. If this checkpoint
    // fails, the next one writes it.
    await journal.checkpoint().catch(err => log.error({ err }, 'could not move the changes in the journal to the store'));
    readers = setInterval(() => clearDeadReaders(parts, log), STALE_READERS_MILLISECONDS);
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
