import { SavedGroups, type Saving, type Soon } from '../../../../base/soon.js';
import { type BuildKey, buildDigest, type QueueKey } from '../../../engine/keys.js';
import {
  isBatch,
  type NewQueue,
  type QueueInfo,
  type QueueLoad,
  type Queues,
  type ReadFacts,
  type Verb,
} from '../../../engine/ports/queues.js';
import type { Millis } from '../../../engine/ports/store.js';
import type { Batch } from '../../../engine/queue/batch.js';
import { LAST_USE_UPDATE_MILLISECONDS } from '../../../engine/retention.js';
import { type BatchSums, keep } from '../../../planning/batching/batch-cost.js';
import type { Mode } from '../../../planning/estimating/estimate.js';
import { decodeChange } from '../../codecs/queue-changes.js';
import { type CachedQueue, QueueCache, type QueueOptions } from '../../queue-cache.js';
import type { Parts } from '../parts.js';
import type { QueueRecord } from '../records.js';
import { commit, written } from '../writes/commit.js';
import { copyQueue, createQueue } from './create-queue.js';
import { batchesOf, openQueue, readQueue, toQueueInfo } from './read-queue.js';

const NO_QUEUE: Saving<null> = { value: null, saved: null };

/** The queues of a store. Those in use are in memory. */
export class LmdbQueues implements Queues {
  readonly #cache: QueueCache<CachedQueue>;
  /** Queues that are no longer in memory. Each promise resolves when the last change is on disk or failed. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Queues whose next verb waits for its facts. Each promise resolves when that verb has run. */
  readonly #reading = new Map<string, Promise<void>>();
  /** Queues whose changes are being written. */
  readonly #saving = new SavedGroups<[key: string, open: CachedQueue]>(
    ([, open], saved) => this.#cache.saved(open, saved),
    ([key, open]) => this.#forget(key, open),
  );
  /** Queues that are being created, and that no request has found yet. */
  readonly #born = new Map<string, CachedQueue>();
  /** Sums that projects learned, until they are on disk. */
  readonly #learned = new Map<string, BatchSums>();
  /** Queues whose use is being noted. */
  readonly #renewing = new Map<string, Promise<void>>();

  constructor(
    readonly parts: Parts,
    readonly options: QueueOptions & { cacheBytes: number },
  ) {
    this.#cache = new QueueCache(options.cacheBytes);
  }

  find({ digest }: QueueKey): QueueInfo | null {
    return this.#info(this.parts.queuesOfNodeBuild.get(digest));
  }

  newest(project: number, build: BuildKey): QueueInfo | null {
    return this.#info(this.parts.queuesOfBuild.get(buildDigest(project, build)));
  }

  async create(key: QueueKey, queue: NewQueue, at: Millis): Promise<boolean> {
    const { digest } = key;
    const born = (id: string, record: QueueRecord) => this.#born.set(digest, openQueue(id, record, queue, [], this.options));
    try {
      const isCreated = await createQueue(this.parts, key, queue, at, born);
      const own = isCreated && this.#born.get(digest);
      if (own) {
        this.#born.delete(digest);
        this.#cache.keep(digest, own);
      }
      return isCreated;
    } catch (error) {
      this.#born.delete(digest);
      throw error;
    }
  }

  repeat(key: QueueKey, at: Millis): Promise<boolean> {
    return copyQueue(this.parts, key, at);
  }

  update<Facts, Value>(
    { digest: key }: QueueKey,
    facts: ReadFacts<Facts>,
    verb: Verb<Facts, Value>,
    at: Millis,
  ): Soon<Saving<Value | null>> {
    const open = this.#cache.get(key);
    const mustWait = !open || at - open.info.used_at >= LAST_USE_UPDATE_MILLISECONDS || this.#reading.has(key) || this.#leaving.has(key);
    return mustWait ? this.#updateLater(key, facts, verb, at) : this.#update(key, open, facts, verb);
  }

  async #updateLater<Facts, Value>(
    key: string,
    facts: ReadFacts<Facts>,
    verb: Verb<Facts, Value>,
    at: Millis,
  ): Promise<Saving<Value | null>> {
    const used_at = this.#cache.get(key)?.info.used_at ?? this.#usedAt(key);
    if (used_at === undefined) return NO_QUEUE;
    if (at - used_at >= LAST_USE_UPDATE_MILLISECONDS) await this.#renewOnce(key, at);
    // Checked again after each wait, so that calls keep their order.
    while (this.#reading.has(key) || this.#leaving.has(key)) await (this.#reading.get(key) ?? this.#leaving.get(key));
    const open = this.#find(key);
    return open ? this.#update(key, open, facts, verb) : NO_QUEUE;
  }

  #update<Facts, Value>(key: string, open: CachedQueue, facts: ReadFacts<Facts>, verb: Verb<Facts, Value>): Soon<Saving<Value | null>> {
    const found = facts(open);
    if (found instanceof Promise) return this.#runLater(key, found, verb);
    // The facts and the verb are in one turn of the event loop. A queue that the cache has no room for is kept only from the verb on.
    return this.#run(key, open, verb, found);
  }

  heardElsewhere(): null {
    return null;
  }

  async noteOtherList({ id, other_list }: QueueInfo, difference: string): Promise<void> {
    const { queues } = this.parts;
    if (other_list !== undefined) return;
    await commit(this.parts, () => {
      const record = queues.get(id);
      if (record && record.other_list === undefined) void queues.put(id, { ...record, other_list: difference });
    });
  }

  batches(queue: string): Batch[] {
    return batchesOf(this.parts, queue);
  }

  copiedBatches(queue: string): Batch[] {
    return (this.parts.batches.get([queue, 0]) ?? []).map(decodeChange).filter(isBatch);
  }

  async revision(queue: string): Promise<number> {
    const { batches, journal } = this.parts;
    // A change has its lasting number in the tables only.
    if (journal.hasPending(queue)) await written(journal.checkpoint());
    const [last] = batches.getKeys({ start: [queue, Infinity], end: [queue, 0], reverse: true, limit: 1 });
    return last?.[1] ?? 0;
  }

  learned(project: number, mode: Mode): BatchSums | null {
    return this.#learned.get(`${project} ${mode}`) ?? this.parts.batchCosts.get([project, mode]) ?? null;
  }

  async learn(project: number, mode: Mode, observed: BatchSums): Promise<void> {
    const sums = keep(this.learned(project, mode), observed);
    const name = `${project} ${mode}`;
    this.#learned.set(name, sums);
    const isWritten = () => this.#learned.get(name) === sums && this.#learned.delete(name);
    const { projects, batchCosts } = this.parts;
    await commit(this.parts, () => projects.doesExist(project) && void batchCosts.put([project, mode], sums)).then(isWritten, () => {});
  }

  load(): QueueLoad {
    return this.#cache.load();
  }

  /**
   * Drops a queue from memory when it expires.
   *
   * @param key the digest of its key
   */
  drop(key: string): void {
    this.#cache.delete(key);
  }

  #info(id: string | undefined): QueueInfo | null {
    const record = id === undefined ? undefined : this.parts.queues.get(id);
    return record ? toQueueInfo(id!, record) : null;
  }

  #usedAt(key: string): Millis | undefined {
    const id = this.parts.queuesOfNodeBuild.get(key);
    return id === undefined ? undefined : this.parts.queues.get(id)?.used_at;
  }

  /** The queue in memory, or read back; null: there is none. */
  #find(key: string): CachedQueue | null {
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const id = this.parts.queuesOfNodeBuild.get(key);
    if (id === undefined) return null;
    const born = this.#born.get(key);
    // Only the first request that finds it may have it: what leaves the cache is read back, with its batches.
    this.#born.delete(key);
    return born ?? readQueue(this.parts, id, this.options);
  }

  /** Renews a queue once for all nodes that ask at the same time. */
  #renewOnce(key: string, at: Millis): Promise<void> {
    let renewal = this.#renewing.get(key);
    if (!renewal) this.#renewing.set(key, (renewal = this.#renew(key, at).finally(() => this.#renewing.delete(key))));
    return renewal;
  }

  /** Notes that a queue is in use. Drops it from memory if it expired meanwhile. */
  async #renew(key: string, at: Millis): Promise<void> {
    const { queues, queuesOfNodeBuild } = this.parts;
    const exists = await commit(this.parts, () => {
      const id = queuesOfNodeBuild.get(key);
      const record = id === undefined ? undefined : queues.get(id);
      if (record) void queues.put(id!, { ...record, used_at: at });
      return record !== undefined;
    });
    if (!exists) this.drop(key);
    const open = this.#cache.get(key);
    if (open) open.info.used_at = at;
  }

  #run<Facts, Value>(key: string, open: CachedQueue, verb: Verb<Facts, Value>, facts: Facts): Saving<Value> {
    try {
      const { value, changes } = verb(open, facts, false);
      for (const change of changes) open.saving = this.parts.journal.write(open.id, change);
      if (open.saving && changes.length > 0) this.#saving.add([key, open], open.saving);
      this.#cache.keep(key, open);
      return { value, saved: open.saving };
    } catch (error) {
      this.#forget(key, open);
      throw error;
    }
  }

  /** Runs a verb when its facts are read. Later calls on the queue wait until then, so that they keep their order. */
  async #runLater<Facts, Value>(key: string, reading: Promise<Facts>, verb: Verb<Facts, Value>): Promise<Saving<Value | null>> {
    let done = () => {};
    this.#reading.set(key, new Promise(resolve => (done = resolve)));
    try {
      const facts = await reading;
      while (this.#leaving.has(key)) await this.#leaving.get(key);
      // Found again, because the cache may have dropped it meanwhile.
      const open = this.#find(key);
      return open ? this.#run(key, open, verb, facts) : NO_QUEUE;
    } finally {
      this.#reading.delete(key);
      done();
    }
  }

  /** Drops a queue whose state in memory may be ahead of the disk. The next request reads it back, unless one already did. */
  #forget(key: string, open: CachedQueue): void {
    this.#cache.forget(key, open);
    if (!open.saving) return;
    const leaving = open.saving
      .catch(() => {})
      .then(() => {
        if (this.#leaving.get(key) === leaving) this.#leaving.delete(key);
      });
    this.#leaving.set(key, leaving);
  }
}
