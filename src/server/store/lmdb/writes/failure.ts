import { statfsSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { limits } from '../../../../protocol/limits.js';
import { refusals } from '../../../engine/refusal.js';

/** The free space on the disk is read again after this time. */
const DISK_CHECK_MILLISECONDS = 10;
/** Time to wait after a failed commit for lmdb to report the cause. */
export const COMMIT_ERROR_MILLISECONDS = 2000;

/** The report of lmdb on a transaction that ended. */
interface Ended {
  /** Its first write. */
  next: Write | null;
  /** Undefined: it failed. */
  txnId: number | undefined;
}

interface Write {
  meta: { reject?: (error: CommitError) => void } | null;
  next: Write | null;
}

/** Rejects with the cause. */
type CommitError = Error & { commitError: Promise<never> };

/** LMDB's "update of meta page failed or environment had fatal error". */
const PANIC = -30_795;

/**
 * Detects that the system failed a write or a flush of lmdb. The process cannot continue after that: lmdb 3.5.6 writes the message of a
 * failed write past the end of its buffer and keeps its lock when a meta page was not written, and the page cache of the kernel
 * may differ from the disk. It watches every commit, whether a caller waits for it or not. A value that lmdb rejects is not such a failure.
 * The journal reports its own failures with `end`.
 */
export class Failure {
  #error: Error | null = null;
  #isReported = false;

  /** @param tell called once, with the error of the system */
  constructor(
    readonly root: RootDatabase,
    readonly tell: (error: Error) => void,
  ) {
    root.on('aftercommit', ({ next, txnId }: Ended) => {
      if (txnId === undefined) void this.#refused(next);
      // Runs before the promises of the commit resolve.
      else queueMicrotask(() => this.#look());
    });
  }

  /** Throws a 503 when a commit failed, even if a later commit succeeded. */
  assert(): void {
    if (this.#error) throw refusals.storeFailed(this.#error);
  }

  async #refused(first: Write | null): Promise<void> {
    // It counts as a failure of the system until the cause is known.
    this.#error ??= new Error('a commit failed for an unknown reason');
    const unknown = after(COMMIT_ERROR_MILLISECONDS, this.#error, { ref: false });
    const cause = await Promise.race([causeOf(first), unknown]);
    if (!('code' in cause) || isOfSystem(cause)) this.end(cause);
    else if (!this.#isReported) this.#error = null;
  }

  /** lmdb reports a flush as done when its meta page was not written. Reads fail after that. */
  #look(): void {
    try {
      this.root.resetReadTxn();
      this.root.doesExist('nothing');
    } catch (error) {
      // The message is tested, because only the first read that fails has the code of a panic.
      if ((error as Error).message.includes('MDB_PANIC')) this.end(new Error('the meta page of a flush was not written', { cause: error }));
    }
  }

  /** Notes that the system failed a write or a flush of the store, so that the process ends. */
  end(error: Error): void {
    this.#error = error;
    if (this.#isReported) return;
    this.#isReported = true;
    this.tell(error);
  }
}

/** Reports whether an error is from the system. LMDB's own codes are negative. */
function isOfSystem(error: Error & { code?: unknown }): boolean {
  return typeof error.code === 'number' && (error.code > 0 || error.code === PANIC);
}

/** Resolves with the cause of a failed commit. lmdb passes it only to the writes that it rejects, so this wraps the first of them. */
function causeOf(first: Write | null): Promise<Error> {
  return new Promise(resolve => {
    for (let write = first; write; write = write.next) {
      const { meta } = write;
      const reject = meta?.reject;
      if (!reject) continue;
      meta.reject = error => {
        error.commitError.catch(resolve);
        reject(error);
      };
      return;
    }
  });
}

/**
 * Refuses writes when little space is left on the disk. lmdb 3.5.6 writes the message of a failed write past the end of its buffer,
 * which may crash the process, and the next start needs some space too.
 */
export class DiskSpaceGuard {
  #lookedAt = -Infinity;
  #lack: Error | null = null;

  constructor(readonly folder: string) {}

  /** Throws a 503 when the disk has too little space left. */
  assert(): void {
    const now = performance.now();
    if (now - this.#lookedAt >= DISK_CHECK_MILLISECONDS) {
      this.#lookedAt = now;
      this.#lack = this.#look();
    }
    if (this.#lack) throw refusals.storeFailed(this.#lack);
  }

  /** The space that a process can use without being root. */
  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }

  #look(): Error | null {
    const free = this.freeBytes();
    if (free >= limits.diskReserveBytes) return null;
    return new Error(`the disk of ${this.folder} has ${free} bytes left, and ${limits.diskReserveBytes} are kept in reserve`);
  }
}
