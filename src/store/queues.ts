import { LRUCache } from 'lru-cache';
import { Queue } from '../engine/queue.js';
import { limits } from '../limits.js';
import type { Forecast } from '../plan/forecast.js';
import type { KeptPeople } from '../wire/people.js';
import type { Segments } from '../wire/segments.js';
import { entriesOf, putAhead, putPieces, takeBack } from './blobs.js';
import { blocksOf } from './file-blocks.js';
import { commit, type ExpiryKey, type Store, written } from './open.js';
import { bytesOf, journalOf, type OpenQueue, outlookOf, readQueue, SAVED, type Verdict } from './open-queue.js';
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

export class Queues {
  readonly #open: LRUCache<string, OpenQueue>;
  /** Queues with answers or changes on their way, which only memory knows of: kept whatever the cache's size. */
  readonly #pinned = new Map<string, OpenQueue>();

  constructor(
    readonly store: Store,
    /** The cost of a pull is a weight. */
    readonly options: { cacheBytes: number; pullCost: number },
  ) {
    this.#open = new LRUCache({
      maxSize: options.cacheBytes,
      sizeCalculation: bytesOf,
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
    const made = await this.#committed(id, change => {
      const known = findQueue(store, keys);
      if (known !== null) return { id: known, isNew: false };
      this.#put(keys, id, record);
      putPieces(store, blocks, ahead);
      void store.blobs.put([id, 'weights'], asBuffer(weights));
      void store.forecasts.put(id, { v: 1, ...forecast });
      const open = { record, queue: new Queue(weights, outlookOf(record, this.options.pullCost)), saved: SAVED, unsaved: 0 };
      change(open);
      this.#keep(id, open);
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
      for (const { key, value } of store.blobs.getRange(entriesOf(last))) void store.blobs.put([id, key[1]], value);
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
    return this.#committed(id, change => {
      const open = this.#known(id) ?? readQueue(this.store, id, this.options.pullCost);
      if (!open) return null;
      change(open);
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
    else await this.#committed(id, change => {
      const open = this.#known(id) ?? readQueue(this.store, id, this.options.pullCost);
      if (!open) return;
      change(open);
      this.#run(id, open, settled);
    });
  }

  /** Drops a queue from memory, when it expires. */
  drop(id: string): void {
    this.#open.delete(id);
    this.#pinned.delete(id);
  }

  #put(keys: QueueKeys, id: string, record: QueueRecord): void {
    void this.store.queues.put(id, record);
    void this.store.queuesOfNodeBuild.put(keys.nodeBuild, id);
    void this.store.queuesOfBuild.put(keys.build, id);
    void this.store.expiry.put([record.used_at, 'queue', id, keys.nodeBuild], true);
  }

  #keep(id: string, open: OpenQueue): void {
    if (open.queue.isAnswering || open.unsaved > 0) this.#pinned.set(id, open);
    else this.#pinned.delete(id);
    if (this.#open.peek(id) !== open) this.#open.set(id, open);
  }

  /** What the queue is answered from now on waits until the change is on disk, as it does. */
  #save(id: string, open: OpenQueue, change: Promise<unknown>): void {
    open.unsaved += 1;
    const before = open.saved;
    const saved = written(change).then(() => before).finally(() => {
      open.unsaved -= 1;
      if (this.#pinned.get(id) === open) this.#keep(id, open);
    });
    // Whoever made the change is told of its failure; others ask later, if at all.
    saved.catch(() => {});
    open.saved = saved;
  }

  #known(id: string): OpenQueue | undefined {
    return this.#pinned.get(id) ?? this.#open.get(id);
  }

  async #inMemory<T>(id: string, open: OpenQueue, verb: (queue: OpenQueue) => Verdict<T>): Promise<T> {
    try {
      const { value, isSaved } = this.#run(id, open, verb);
      if (isSaved) this.#save(id, open, isSaved);
      await open.saved;
      return value;
    } catch (error) {
      this.#forget(id, open);
      throw error;
    }
  }

  /** Within a transaction; it tells which queue in memory it is about to change. */
  async #committed<T>(id: string, transaction: (change: (open: OpenQueue) => void) => T): Promise<T> {
    let changed: OpenQueue | null = null;
    const change = (open: OpenQueue) => {
      changed = open;
      this.#save(id, open, done);
    };
    const done = commit(this.store, () => transaction(change));
    try {
      return await done;
    } catch (error) {
      if (changed) this.#forget(id, changed);
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
    if (this.#pinned.get(id) === open) this.#pinned.delete(id);
    if (this.#open.peek(id) === open) this.#open.delete(id);
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Float64Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
