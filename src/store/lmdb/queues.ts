import { LRUCache } from 'lru-cache';
import type { MaskedPeople } from '../../api/messages/people.js';
import type { Segments } from '../../engine/segments.js';
import { limits } from '../../limits.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';
import { runsRecordedOf } from './builds.js';
import { commit } from './commit.js';
import { installQueue } from './create-queue.js';
import { copyOfPieces, piecesOfQueue } from './file-blocks.js';
import type { Store } from './open.js';
import { batchesOf, bytesOf, type OpenQueue, type QueueOptions, readQueue, type Verdict } from './open-queue.js';
import { findLastQueue, findQueue } from './queue-keys.js';
import type { ListRecord, Millis, QueueRecord } from './records.js';

/** What a queue starts with. */
export interface QueuePlan {
  people: MaskedPeople;
  list: ListRecord;
  /** Its test files, slowest first: see file-blocks.ts. */
  blocks: Segments;
  /** See weight.ts. */
  weights: Float64Array;
  /** Most files were never measured. */
  guessed: boolean;
  forecast: Forecast;
}

/** So many times as large as it was counted, a queue is counted again. */
const GROWN = 1.1;

/** All queues, each under its key (see queue-keys.ts). */
export class Queues {
  readonly #open: LRUCache<string, OpenQueue>;
  /** Busy queues for which the cache has no room. */
  readonly #pinned = new Map<string, OpenQueue>();
  /** Queues that are not in memory any more, and when their last change is on disk or failed. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Queues whose use is being noted. */
  readonly #renewing = new Map<string, Promise<void>>();

  constructor(
    readonly store: Store,
    readonly options: QueueOptions & { cacheBytes: number },
  ) {
    this.#open = new LRUCache({
      maxSize: options.cacheBytes,
      sizeCalculation: open => (open.bytes = bytesOf(open)),
      dispose: (open, key, reason) => reason === 'evict' && this.#pinIfBusy(key, open),
    });
  }

  /**
   * Creates the queue of a node_build_id unless there is one already (many nodes initialise at once);
   * returns the id of the one in force, and whether it is new.
   */
  async create(
    key: string,
    id: string,
    record: QueueRecord,
    { blocks, weights, forecast }: QueuePlan,
  ): Promise<{ id: string; isNew: boolean }> {
    const content = () => ({
      record: { ...record, runs_before: runsRecordedOf(this.store, record.build) },
      forecast: { v: 1 as const, ...forecast },
      batches: null,
    });
    const inForce = (await installQueue(this.store, key, id, record.used_at, () => piecesOfQueue(id, blocks, weights), content))!;
    return { id: inForce, isNew: inForce === id };
  }

  /**
   * Gives a node_build_id the last split of its build again: a copy of the build's newest queue with what every node
   * was handed there and what is left. A copy, because the nodes of the other may still be pulling: each of the two
   * hands out every file. Returns the queue in force, null when the build has none to repeat.
   */
  async repeat(key: string, build: string, id: string, now: Millis): Promise<string | null> {
    const { store } = this;
    const last = findLastQueue(store, build);
    if (last === null) return null;
    return installQueue(
      store,
      key,
      id,
      now,
      () => copyOfPieces(store, last, id),
      () => {
        const record = store.queues.get(last);
        // It expired meanwhile.
        if (!record) return null;
        const { other_list: _ofAnother, ...own } = record;
        // What was handed out again was handed out before.
        const batches = batchesOf(store, last).filter(({ again, files }) => !again && files.length > 0);
        return {
          record: { ...own, repeats: true, copied_at: now, copied_runs_before: runsRecordedOf(store, build), used_at: now },
          forecast: store.forecasts.get(last)!,
          // What a node of the copy does not ask for it does not work on.
          batches: batches.map(batch => ({ ...batch, delivered: true, lease: batch.lease ?? 'ended' })),
        };
      },
    );
  }

  /**
   * Runs a verb on the queue's state, and resolves with its result when what this verb and those before it changed
   * is on disk. Null when there is none, or it expired. A queue in use does not expire.
   */
  async update<T>(key: string, verb: (queue: OpenQueue) => Verdict<T>, now: Millis): Promise<T | null> {
    const record = this.#inMemory(key)?.record ?? this.#recordOf(key);
    if (!record) return null;
    if (now - record.used_at >= limits.lastUseUpdateMilliseconds) await this.#renewOnce(key, now);
    if (this.#leaving.size > 0) await this.#left(key);
    const open = this.#find(key);
    // Found and changed in one go: what the cache has no room for is kept only once it is busy.
    return open && this.#run(key, open, verb);
  }

  /**
   * Tells a queue whether an answer with a batch was written, or its client left before. Nobody waits for it:
   * if it never reaches the disk, a restart hands the batch out once more at worst.
   */
  async settle(key: string, seq: number, isWritten: boolean): Promise<void> {
    if (this.#leaving.size > 0) await this.#left(key);
    const open = this.#find(key);
    if (!open) return;
    await this.#run(key, open, ({ queue }) => {
      const change = isWritten ? queue.delivered(seq) : queue.undelivered(seq) ? seq : null;
      return { value: null, changes: change === null ? [] : [change] };
    });
  }

  /** What is in memory now. */
  load(): { inMemory: number; open: number; bytes: number; testFilesLeft: number } {
    let open = 0;
    let testFilesLeft = 0;
    for (const { queue } of this.#open.values()) {
      if (queue.filesLeft === 0) continue;
      open += 1;
      testFilesLeft += queue.filesLeft;
    }
    return { inMemory: this.#open.size, open, bytes: this.#open.calculatedSize, testFilesLeft };
  }

  /** Drops a queue from memory, when it expires. */
  drop(key: string): void {
    this.#open.delete(key);
    this.#pinned.delete(key);
  }

  #inMemory(key: string): OpenQueue | undefined {
    return this.#open.get(key) ?? this.#pinned.get(key);
  }

  #recordOf(key: string): QueueRecord | undefined {
    const id = findQueue(this.store, key);
    return id === null ? undefined : this.store.queues.get(id);
  }

  /** In memory, or read back; null when there is none. */
  #find(key: string): OpenQueue | null {
    const known = this.#inMemory(key);
    if (known) return known;
    const id = findQueue(this.store, key);
    return id === null ? null : readQueue(this.store, id, this.options);
  }

  #keep(key: string, open: OpenQueue): void {
    if (this.#open.peek(key) === open) {
      if (bytesOf(open) < GROWN * open.bytes) return;
      // Of what it has already the cache does not count anew what it takes.
      this.#open.delete(key);
    }
    this.#open.set(key, open);
    if (this.#open.peek(key) === open) this.#pinned.delete(key);
    else this.#pinIfBusy(key, open);
  }

  /** Keeps a queue that the cache has no room for as long as only memory knows of its answers and changes on their way. */
  #pinIfBusy(key: string, open: OpenQueue): void {
    if (open.queue.isAnswering || open.saving) this.#pinned.set(key, open);
    else this.#pinned.delete(key);
  }

  /** All nodes of a build come at once. */
  #renewOnce(key: string, now: Millis): Promise<void> {
    let renewal = this.#renewing.get(key);
    if (!renewal) {
      renewal = this.#renew(key, now).finally(() => this.#renewing.delete(key));
      this.#renewing.set(key, renewal);
    }
    return renewal;
  }

  /** Notes that it is in use; drops it when it expired meanwhile. */
  async #renew(key: string, now: Millis): Promise<void> {
    const isThere = await commit(this.store, () => {
      const id = findQueue(this.store, key);
      const record = id === null ? undefined : this.store.queues.get(id);
      if (record) void this.store.queues.put(id!, { ...record, used_at: now });
      return record !== undefined;
    });
    if (!isThere) this.drop(key);
    const open = this.#inMemory(key);
    if (open) open.record.used_at = now;
  }

  async #run<T>(key: string, open: OpenQueue, verb: (queue: OpenQueue) => Verdict<T>): Promise<T> {
    try {
      const { value, changes } = verb(open);
      for (const change of changes) open.saving = this.store.journal.write(open.id, change);
      this.#keep(key, open);
      const { saving } = open;
      if (saving) {
        await saving;
        if (open.saving === saving) open.saving = null;
        if (this.#pinned.get(key) === open) this.#keep(key, open);
      }
      return value;
    } catch (error) {
      this.#forget(key, open);
      throw error;
    }
  }

  /** What is in memory may be ahead of the disk: the next request reads it back, unless one did already. */
  #forget(key: string, open: OpenQueue): void {
    if (this.#pinned.get(key) === open) this.#pinned.delete(key);
    if (this.#open.peek(key) === open) this.#open.delete(key);
    if (!open.saving) return;
    const leaving = open.saving
      .catch(() => {})
      .then(() => {
        if (this.#leaving.get(key) === leaving) this.#leaving.delete(key);
      });
    this.#leaving.set(key, leaving);
  }

  /** Of a queue that was forgotten, changes may still be on their way to the disk. */
  async #left(key: string): Promise<void> {
    while (this.#leaving.has(key)) await this.#leaving.get(key);
  }
}
