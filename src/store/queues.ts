import { LRUCache } from 'lru-cache';
import { type Batch, Queue } from '../engine/queue.js';
import { limits } from '../limits.js';
import type { Forecast } from '../plan/forecast.js';
import type { QueueOutlook } from '../plan/queue/batch.js';
import type { KeptPeople } from '../wire/people.js';
import type { Segments } from '../wire/segments.js';
import { putAhead, putPieces, takeBack } from './blobs.js';
import { blocksOf } from './file-blocks.js';
import { commit, type ExpiryKey, type Store, written } from './open.js';
import { findLastQueue, findQueue, type QueueKeys } from './queue-keys.js';
import type { Millis, QueueRecord } from './records.js';

/** What a queue starts with. */
export interface QueuePlan {
  people: KeptPeople;
  /** JSON of each test file behind a comma, slowest first. */
  files: Segments;
  /** See weight.ts. */
  weights: Float64Array;
  /** Most files were never measured. */
  guessed: boolean;
  forecast: Forecast;
}

/** A queue in memory: a cache over the store, read back when asked for. */
export interface OpenQueue {
  record: QueueRecord;
  queue: Queue;
  /** Settled when what was changed last is on disk. */
  saved: Promise<void>;
}

/** What a verb returns, and the entry of the journal that it wrote or erased. */
export interface Verdict<T> {
  value: T;
  journaled?: Batch;
  erased?: number;
}

const SAVED = Promise.resolve();

/** Rough bytes that a queue takes in memory: weights, state, journal, maps. */
const BYTES_PER_QUEUE = 2048;
const BYTES_PER_FILE = 24;
const BYTES_PER_NODE = 400;

export class Queues {
  readonly #open: LRUCache<string, OpenQueue>;
  /** Queues with answers on their way, which only memory knows of: kept whatever the cache's size. */
  readonly #answering = new Map<string, OpenQueue>();

  constructor(
    readonly store: Store,
    /** The cost of a pull is a weight. */
    readonly options: { cacheBytes: number; pullCost: number },
  ) {
    this.#open = new LRUCache({
      maxSize: options.cacheBytes,
      sizeCalculation: ({ record, queue }) =>
        BYTES_PER_QUEUE + BYTES_PER_NODE * record.node_total + BYTES_PER_FILE * queue.weights.length,
    });
  }

  /**
   * Creates the queue of a node_build_id unless there is one already (many nodes initialise at once);
   * returns the id of the one in force, and whether it is new.
   */
  async create(
    keys: QueueKeys,
    id: string,
    record: QueueRecord,
    { files, weights, forecast }: QueuePlan,
  ): Promise<{ id: string; isNew: boolean }> {
    const { store } = this;
    const blocks = blocksOf(id, files);
    const expiry: ExpiryKey = [record.used_at, 'queue', id, keys.nodeBuild];
    const ahead = await putAhead(store, blocks, expiry);
    const made = await this.#committed(id, () => {
      const known = findQueue(store, keys);
      if (known !== null) return { id: known, isNew: false };
      this.#put(keys, id, record);
      putPieces(store, blocks, ahead);
      void store.blobs.put([id, 'weights'], asBuffer(weights));
      void store.forecasts.put(id, { v: 1, ...forecast });
      this.#keep(id, { record, queue: new Queue(weights, this.#outlook(record)), saved: SAVED });
      return { id, isNew: true };
    });
    if (!made.isNew) await takeBack(store, id, ahead, expiry);
    return made;
  }

  /**
   * Gives a node_build_id the last split of its build again: a copy of the build's newest queue with what every node
   * was handed there and what is left. A copy, because the nodes of the other may still be pulling: each of the two
   * hands out every file. Returns the queue in force, null when the build has none to repeat.
   */
  repeat(keys: QueueKeys, id: string, now: Millis): Promise<string | null> {
    const { store } = this;
    return this.#committed(id, () => {
      const known = findQueue(store, keys);
      if (known !== null) return known;
      const last = findLastQueue(store, keys);
      const record = last === null ? undefined : store.queues.get(last);
      if (last === null || !record) return null;
      this.#put(keys, id, { ...record, repeats: true, used_at: now });
      for (const { key, value } of store.blobs.getRange(blobsOf(last) as object)) void store.blobs.put([id, key[1]], value);
      void store.forecasts.put(id, store.forecasts.get(last)!);
      for (const { value } of store.batches.getRange(journalOf(last))) {
        // What was handed out again was handed out before.
        if (!value.again) void store.batches.put([id, value.seq], { ...value, delivered: true });
      }
      return id;
    });
  }

  /**
   * Runs a verb on the queue's state, and resolves with its result when what this verb and those before it changed
   * is on disk. Null when the queue expired. A queue in use does not expire.
   */
  update<T>(id: string, verb: (queue: OpenQueue) => Verdict<T>, now: Millis): Promise<T | null> {
    const known = this.#known(id);
    // In memory and in use, nothing but verbs changes it: they need no transaction to run one after the other.
    if (known && now - known.record.used_at < limits.renewMilliseconds) return this.#inMemory(id, known, verb);
    return this.#committed(id, () => {
      const open = this.#known(id) ?? this.#read(id);
      if (!open) return null;
      if (now - open.record.used_at >= limits.renewMilliseconds) {
        open.record.used_at = now;
        void this.store.queues.put(id, open.record);
      }
      return this.#run(id, open, verb).value;
    });
  }

  /**
   * Tells a queue whether an answer with a batch was written, or its client left before. Nobody waits for it:
   * if it never reaches the disk, a restart hands the batch out once more at worst.
   */
  async settle(id: string, seq: number, isWritten: boolean): Promise<void> {
    const settled = ({ queue }: OpenQueue): Verdict<null> => {
      const renewed = isWritten ? queue.delivered(seq) : null;
      if (renewed) return { value: null, journaled: renewed };
      return { value: null, ...(!isWritten && queue.undelivered(seq) && { erased: seq }) };
    };
    const known = this.#known(id);
    if (known) await this.#inMemory(id, known, settled);
    else await this.#committed(id, () => {
      const open = this.#known(id) ?? this.#read(id);
      if (open) this.#run(id, open, settled);
    });
  }

  /** Drops a queue from memory, when it expires. */
  drop(id: string): void {
    this.#open.delete(id);
    this.#answering.delete(id);
  }

  #outlook({ node_total, guessed }: QueueRecord): QueueOutlook {
    return { nodeTotal: node_total, pullCost: this.options.pullCost, isGuessed: guessed };
  }

  #put(keys: QueueKeys, id: string, record: QueueRecord): void {
    void this.store.queues.put(id, record);
    void this.store.queuesOfNodeBuild.put(keys.nodeBuild, id);
    void this.store.queuesOfBuild.put(keys.build, id);
    void this.store.expiry.put([record.used_at, 'queue', id, keys.nodeBuild], true);
  }

  #keep(id: string, open: OpenQueue): void {
    if (open.queue.isAnswering) this.#answering.set(id, open);
    else this.#answering.delete(id);
    if (this.#open.peek(id) !== open) this.#open.set(id, open);
  }

  #known(id: string): OpenQueue | undefined {
    return this.#answering.get(id) ?? this.#open.get(id);
  }

  async #inMemory<T>(id: string, open: OpenQueue, verb: (queue: OpenQueue) => Verdict<T>): Promise<T> {
    try {
      const { value, isSaved } = this.#run(id, open, verb);
      if (isSaved) open.saved = written(this.store, isSaved, open.saved);
      await open.saved;
      return value;
    } catch (error) {
      this.#forget(id, open);
      throw error;
    }
  }

  async #committed<T>(id: string, change: () => T): Promise<T> {
    try {
      return await commit(this.store, change);
    } catch (error) {
      this.drop(id);
      throw error;
    }
  }

  /** Runs a verb and writes what it changed. */
  #run<T>(id: string, open: OpenQueue, verb: (queue: OpenQueue) => Verdict<T>): { value: T; isSaved: Promise<boolean> | null } {
    const { batches } = this.store;
    const { value, journaled, erased } = verb(open);
    this.#keep(id, open);
    if (journaled) return { value, isSaved: batches.put([id, journaled.seq], journaled) };
    return { value, isSaved: erased === undefined ? null : batches.remove([id, erased]) };
  }

  /** What is in memory may be ahead of the disk: the next request reads it back, unless one did already. */
  #forget(id: string, open: OpenQueue): void {
    if (this.#answering.get(id) === open) this.#answering.delete(id);
    if (this.#open.peek(id) === open) this.#open.delete(id);
  }

  /** Within a transaction, which sees whatever was written before. */
  #read(id: string): OpenQueue | null {
    const { store } = this;
    const record = store.queues.get(id);
    if (!record) return null;
    const weights = store.blobs.get([id, 'weights'])!;
    const journal = [...store.batches.getRange(journalOf(id))].map(({ value }) => value);
    const queue = new Queue(
      new Float64Array(bytesOf(weights), 0, weights.length / 8),
      this.#outlook(record),
      journal,
    );
    return { record, queue, saved: SAVED };
  }
}

function journalOf(id: string): { start: [string, number]; end: [string, number] } {
  return { start: [id, 0], end: [id, Infinity] };
}

function blobsOf(id: string): { start: [string, number]; end: [string, string] } {
  return { start: [id, -Infinity], end: [id, '\u{10FFFF}'] };
}

function asBuffer({ buffer, byteOffset, byteLength }: Float64Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** A copy that typed arrays can stand on: their start must be aligned. */
function bytesOf(blob: Buffer): ArrayBuffer {
  return new Uint8Array(blob).buffer;
}
