import { LRUCache } from 'lru-cache';
import type { QueueLoad } from '../../engine/ports/queues.js';
import { bytesOf, type CachedQueue } from './open-queue.js';

/** A cached queue is measured again when it may have grown by this factor. */
const GROWN = 1.1;

/** The queues in memory, under the digests of their keys. */
export class QueueCache {
  readonly #recent: LRUCache<string, CachedQueue>;
  /** Busy queues for which #recent has no room. */
  readonly #pinned = new Map<string, CachedQueue>();

  constructor(bytes: number) {
    this.#recent = new LRUCache({
      maxSize: bytes,
      sizeCalculation: open => (open.bytes = bytesOf(open)),
      dispose: (open, key, reason) => reason === 'evict' && this.#pinIfBusy(key, open),
    });
  }

  get(key: string): CachedQueue | undefined {
    return this.#recent.get(key) ?? this.#pinned.get(key);
  }

  /** Keeps a queue after a verb, which may have changed its size. */
  keep(key: string, open: CachedQueue): void {
    if (this.#recent.peek(key) === open) {
      if (bytesOf(open) < GROWN * open.bytes) return;
      // #recent measures an entry only when it is new.
      this.#recent.delete(key);
    }
    this.#recent.set(key, open);
    if (this.#recent.peek(key) === open) this.#pinned.delete(key);
    else this.#pinIfBusy(key, open);
  }

  /** Notes that a write of a queue is on disk. If that was its last change, unpins it, unless it is still busy. */
  saved(key: string, open: CachedQueue, saved: Promise<void>): void {
    if (open.saving !== saved) return;
    open.saving = null;
    if (this.#pinned.get(key) === open) this.keep(key, open);
  }

  delete(key: string): void {
    this.#recent.delete(key);
    this.#pinned.delete(key);
  }

  /** Deletes a queue unless it was read back meanwhile. */
  forget(key: string, open: CachedQueue): void {
    if (this.#pinned.get(key) === open) this.#pinned.delete(key);
    if (this.#recent.peek(key) === open) this.#recent.delete(key);
  }

  load(): QueueLoad {
    let open = 0;
    let testFilesLeft = 0;
    for (const { queue } of this.#recent.values()) {
      if (queue.filesLeft === 0) continue;
      open += 1;
      testFilesLeft += queue.filesLeft;
    }
    return { inMemory: this.#recent.size, open, bytes: this.#recent.calculatedSize, testFilesLeft };
  }

  /** A queue is busy while some of its changes or its answers under way are only in memory. */
  #pinIfBusy(key: string, open: CachedQueue): void {
    if (open.queue.isAnswering || open.saving) this.#pinned.set(key, open);
    else this.#pinned.delete(key);
  }
}
