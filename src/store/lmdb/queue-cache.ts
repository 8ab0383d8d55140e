import { LRUCache } from 'lru-cache';
import { applyChange, type OpenQueue, type QueueInfo, type QueueLoad } from '../../engine/ports/queues.js';
import type { Batch } from '../../engine/queue/batch.js';
import type { LeasePolicy } from '../../engine/queue/leases.js';
import { Queue } from '../../engine/queue/queue.js';
import { weightsOfQueue } from './codecs/file-blocks.js';
import { decodeChange } from './codecs/turn-codec.js';
import type { Parts } from './parts.js';
import type { QueueRecord } from './records.js';

/** A queue in memory: a cache over the store, from which it can be read back. */
export interface CachedQueue extends OpenQueue {
  /** The size that the cache counts for it, measured some batches ago. */
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

/** Null: it expired. */
export function readQueue(parts: Parts, id: string, { pullCost, lease }: QueueOptions): CachedQueue | null {
  const record = parts.queues.get(id);
  if (!record) return null;
  const outlook = { nodeTotal: record.node_total, pullCost, isGuessed: record.guessed };
  const queue = new Queue(weightsOfQueue(parts, id), outlook, batchesOf(parts, id), lease);
  return { id, info: toQueueInfo(id, record), queue, bytes: 0, saving: null };
}

export function toQueueInfo(id: string, { guessed: _g, build: _b, ...info }: QueueRecord): QueueInfo {
  return { id, ...info };
}

/** The batches of a queue that are on disk, oldest first. */
export function batchesOf({ batches: saved, journal }: Pick<Parts, 'batches' | 'journal'>, id: string): Batch[] {
  const batches = new Map<number, Batch>();
  for (const { value } of saved.getRange({ start: [id, 0], end: [id, Infinity] })) {
    for (const change of value) applyChange(batches, decodeChange(change));
  }
  for (const change of journal.pendingOf(id)) applyChange(batches, change);
  return [...batches.values()].sort((a, b) => a.seq - b.seq);
}

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
