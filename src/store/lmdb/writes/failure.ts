import { setTimeout as after } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { apiErrors } from '../../../api-error.js';
import { limits } from '../../../limits.js';

/** What lmdb tells of a transaction that ended; without an id it failed. Its writes follow each other. */
interface Ended {
  next: Write | null;
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
 * Whether the system failed a write or a flush of lmdb's. Then this process is done for: lmdb 3.5.6 writes the message of a failed write
 * beyond its buffer, never lets go of its lock when a mark was not written, and what the kernel holds is no longer what the disk
 * has. Sees every commit, whoever waits for it. A value that lmdb refuses is no such failure.
 */
export class Failure {
  #error: Error | null = null;
  #isTold = false;

  /** @param tell told once, with what the system said */
  constructor(
    readonly root: RootDatabase,
    readonly tell: (error: Error) => void,
  ) {
    root.on('aftercommit', ({ next, txnId }: Ended) => {
      if (txnId === undefined) void this.#refused(next);
      // Before those who wait for it are told.
      else queueMicrotask(() => this.#look());
    });
  }

  /** Throws a 503 when a commit failed, be it that another one succeeded since: that says nothing any more. */
  assert(): void {
    if (this.#error) throw apiErrors.storeFailed(this.#error);
  }

  async #refused(first: Write | null): Promise<void> {
    // Until the cause is known, the worst is assumed.
    this.#error ??= new Error('a commit failed, and nothing tells why');
    const unknown = after(limits.commitErrorMilliseconds, this.#error, { ref: false });
    const cause = await Promise.race([causeOf(first), unknown]);
    if (!('code' in cause) || isOfSystem(cause)) this.#end(cause);
    else if (!this.#isTold) this.#error = null;
  }

  /** A flush whose mark was not written is told as done, and then nothing can be read. */
  #look(): void {
    try {
      this.root.resetReadTxn();
      this.root.doesExist('nothing');
    } catch (error) {
      // Whatever its code: reads that follow the first fail by another one.
      if ((error as Error).message.includes('MDB_PANIC')) this.#end(new Error('a flush could not be marked as done', { cause: error }));
    }
  }

  #end(error: Error): void {
    this.#error = error;
    if (this.#isTold) return;
    this.#isTold = true;
    this.tell(error);
  }
}

/** Not one of LMDB's own codes, which are negative. */
function isOfSystem(error: Error & { code?: unknown }): boolean {
  return typeof error.code === 'number' && (error.code > 0 || error.code === PANIC);
}

/** lmdb gives the cause to those only whose write is rejected. */
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
