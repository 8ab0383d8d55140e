import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { RootDatabase } from 'lmdb';
import { acquireLock, type FileLock, lockHolder, locks, openLockFile } from '../../../../base/locks.js';

/** Time that the opening of a store waits for a pause in the writes of others. */
const OPEN_SECONDS = 10;
/** Time that a write waits for others that open the store. */
const OTHER_OPEN_MILLISECONDS = 100;

/**
 * Makes this process the only server of a folder, because two servers would hand out every queue twice. Commands on the folder need
 * the lock only to repair it. Throws a sentence when another process has the lock.
 */
export function lockFolder(dataDir: string): FileLock {
  const path = join(dataDir, 'serve.lock');
  const lock = acquireLock(path);
  if (!lock) {
    throw new Error(
      `cannot take ${dataDir}: another Ballast serves this folder${lockHolder(path)}; stop it, or choose another with BALLAST_DATA_DIR`,
    );
  }
  return lock;
}

/**
 * Keeps a process from opening a store while another one commits to it. To open a file, LMDB reads the number of its last transaction, and
 * some steps later writes it to where all processes look for it (mdb_env_open2 in mdb.c of lmdb 3.5.6). If another process commits in
 * between, its transaction is overwritten by the next one, although it was flushed. So a process holds this lock alone while it opens
 * the file, and shares it while it has writes under way.
 */

/** The locks of the stores that are open in this process, where LMDB opens a file only once. */
const open = new Map<string, SharedLock>();

const POLL_MILLISECONDS = 1;
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const sleep = () => void Atomics.wait(sleeper, 0, 0, POLL_MILLISECONDS);

/**
 * Opens a store with `openRoot` while no other process commits to it, and shares the lock during its own writes. Throws a sentence when other
 * processes commit without a pause.
 *
 * @param path the file of the lock, which is created if missing
 */
export function openAlone(path: string, openRoot: () => RootDatabase): RootDatabase {
  // The threads of a process share what its main thread has opened, and do not write.
  if (!isMainThread) return openRoot();
  const known = open.get(path);
  const lock = known ?? new SharedLock(openLockFile(path));
  try {
    const root = known ? openRoot() : lock.alone(openRoot);
    lock.addUser(path, root);
    return root;
  } catch (error) {
    if (!known) closeSync(lock.fd);
    throw error;
  }
}

class SharedLock {
  #users = 0;
  /** Batches of writes that are under way. */
  #batches = 0;
  #isClosed = false;

  constructor(readonly fd: number) {}

  alone<T>(run: () => T): T {
    const until = performance.now() + 1000 * OPEN_SECONDS;
    while (!locks.tryLock(this.fd)) {
      if (performance.now() > until) {
        throw new Error(`other processes wrote to it without a pause for ${OPEN_SECONDS} s; try again`);
      }
      sleep();
    }
    try {
      return run();
    } finally {
      locks.unlock(this.fd);
    }
  }

  addUser(path: string, root: RootDatabase): void {
    this.#users += 1;
    open.set(path, this);
    // Called at the end of each batch, before it can be committed.
    root.on('beforecommit', () => {
      this.#begin();
      void root.committed.then(this.#end, this.#end);
    });
    const close = root.close.bind(root);
    let isOpen = true;
    root.close = async () => {
      await close();
      if (!isOpen) return;
      isOpen = false;
      this.#users -= 1;
      if (this.#users > 0) return;
      open.delete(path);
      this.#isClosed = true;
      closeSync(this.fd);
    };
  }

  #begin(): void {
    this.#batches += 1;
    if (this.#batches > 1) return;
    const until = performance.now() + OTHER_OPEN_MILLISECONDS;
    // To open a store takes a few milliseconds. A process that was stopped meanwhile must not stop this one.
    while (!locks.tryLock(this.fd, true) && performance.now() < until) sleep();
  }

  readonly #end = () => {
    this.#batches -= 1;
    if (this.#batches === 0 && !this.#isClosed) locks.unlock(this.fd);
  };
}
