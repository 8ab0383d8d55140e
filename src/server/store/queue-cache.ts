import type { OpenQueue, QueueLoad } from '../engine/ports/queues.js';
import type { LeasePolicy } from '../engine/queue/leases.js';

/** A queue in memory: a cache over the store, from which it can be read back. */
export interface CachedQueue extends OpenQueue {
  /** The size that the cache counts for it, measured after its last verb. */
  bytes: number;
  /** The write of its last change; null: all changes are on disk. */
  saving: Promise<void> | null;
}

/** Approximate bytes, as measured: weights, state, maps, batches. */
const BYTES_PER_QUEUE = 2048;
const BYTES_PER_FILE = 32;
const BYTES_PER_NODE = 400;
const BYTES_PER_BATCH = 710;
const BYTES_PER_FILE_HANDED = 8;
/** The most bytes that a character takes. */
const BYTES_PER_CHARACTER = 2;

/** The approximate memory of a queue. */
export function bytesOf({ info, queue }: OpenQueue): number {
  return (
    BYTES_PER_QUEUE +
    BYTES_PER_NODE * info.node_total +
    BYTES_PER_FILE * queue.weights.length +
    BYTES_PER_BATCH * queue.batchCount +
    BYTES_PER_FILE_HANDED * queue.filesHanded +
    BYTES_PER_CHARACTER * queue.text.characters
  );
}

export interface QueueOptions {
  /** The time that a node loses between two batches, as a weight. */
  pullCost: number;
  /** Null: nodes may be silent without limit. */
  lease: LeasePolicy | null;
}

/**
 * The queues in memory, under the digests of their keys. Beyond a number of bytes, the queues that were not used for longest leave. A busy
 * queue stays: it has changes, or answers under way, that are only in memory.
 */
export class QueueCache<Cached extends CachedQueue> {
  /** In the order of their last use. */
  readonly #queues = new Map<string, Cached>();
  #bytes = 0;

  constructor(readonly maxBytes: number) {}

  get(key: string): Cached | undefined {
    const open = this.#queues.get(key);
    if (!open) return undefined;
    this.#queues.delete(key);
    this.#queues.set(key, open);
    return open;
  }

  values(): Iterable<Cached> {
    return this.#queues.values();
  }

  /** Keeps a queue after a verb, which may have changed its size. */
  keep(key: string, open: Cached): void {
    this.delete(key);
    this.#queues.set(key, open);
    this.#bytes += open.bytes = bytesOf(open);
    this.#trim();
  }

  /** Notes that a write of a queue is on disk. If that was its last change, the queue may leave, unless it is still busy. */
  saved(open: CachedQueue, saved: Promise<void>): void {
    if (open.saving !== saved) return;
    open.saving = null;
    this.#trim();
  }

  delete(key: string): void {
    const open = this.#queues.get(key);
    if (!open) return;
    this.#queues.delete(key);
    this.#bytes -= open.bytes;
  }

  /** Deletes a queue unless it was read back meanwhile. */
  forget(key: string, open: Cached): void {
    if (this.#queues.get(key) === open) this.delete(key);
  }

  load(): QueueLoad {
    let open = 0;
    let testFilesLeft = 0;
    for (const { queue } of this.#queues.values()) {
      if (queue.filesLeft === 0) continue;
      open += 1;
      testFilesLeft += queue.filesLeft;
    }
    return { inMemory: this.#queues.size, open, bytes: this.#bytes, testFilesLeft };
  }

  #trim(): void {
    for (const [key, { queue, saving }] of this.#queues) {
      if (this.#bytes <= this.maxBytes) return;
      if (!queue.isAnswering && !saving) this.delete(key);
    }
  }
}
