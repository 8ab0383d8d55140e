import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { BuildKey } from '../../engine/build-key.js';
import { buildDigest, type QueueKey } from '../../engine/keys.js';
import type { NewQueue, OpenQueue, QueueInfo, QueueLoad, Queues, Verdict } from '../../engine/ports/queues.js';
import type { Millis, Soon } from '../../engine/ports/store.js';
import type { Batch } from '../../engine/queue/batch.js';
import { limits } from '../../limits.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';
import { runsRecordedOf } from './builds.js';
import { decodeChange, encodeBatch } from './codecs/batch-codec.js';
import { blobsOfQueue, copyOfBlobs, encodeFileBlocks, readFiles, weightsOfQueue } from './codecs/file-blocks.js';
import { putQueue } from './create-queue.js';
import { toForecast } from './forecasts.js';
import { batchesOf, bytesOf, type CachedQueue, type QueueOptions, readQueue, toQueueInfo } from './open-queue.js';
import type { Parts } from './parts.js';
import { commit } from './writes/commit.js';

/** A cached queue is measured again when it may have grown by this factor. */
const GROWN = 1.1;

/** The queues of a store. Those in use are in memory, under the digests of their keys. */
export class LmdbQueues implements Queues {
  readonly #open: LRUCache<string, CachedQueue>;
  /** Busy queues for which the cache has no room. */
  readonly #pinned = new Map<string, CachedQueue>();
  /** Queues that are no longer in memory. Each promise resolves when the last change is on disk or failed. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Queues whose next verb waits for its facts. Each promise resolves when that verb has run. */
  readonly #reading = new Map<string, Promise<void>>();
  /** Queues whose use is being noted. */
  readonly #renewing = new Map<string, Promise<void>>();

  constructor(
    readonly parts: Parts,
    readonly options: QueueOptions & { cacheBytes: number },
  ) {
    this.#open = new LRUCache({
      maxSize: options.cacheBytes,
      sizeCalculation: open => (open.bytes = bytesOf(open)),
      dispose: (open, key, reason) => reason === 'evict' && this.#pinIfBusy(key, open),
    });
  }

  find({ digest }: QueueKey): QueueInfo | null {
    return this.#info(this.parts.queuesOfNodeBuild.get(digest));
  }

  newest(project: number, build: BuildKey): QueueInfo | null {
    return this.#info(this.parts.queuesOfBuild.get(buildDigest(project, build)));
  }

  create(key: QueueKey, { people, list, files, weights, guessed, forecast }: NewQueue, at: Millis): Promise<boolean> {
    const id = randomUUID();
    const build = buildDigest(key.project, key.build);
    return putQueue(this.parts, {
      key: key.digest,
      id,
      at,
      blobs: () => blobsOfQueue(id, files, weights),
      content: () => ({
        record: {
          v: 1,
          name: key.digest,
          node_total: key.build.node_total,
          guessed,
          repeats: false,
          people,
          list,
          created_at: at,
          runs_before: runsRecordedOf(this.parts, build),
          used_at: at,
          build,
        },
        forecast: { v: 1, ...forecast },
        batches: null,
      }),
    }).then(existing => existing === id);
  }

  async repeat(key: QueueKey, at: Millis): Promise<boolean> {
    const { parts } = this;
    const build = buildDigest(key.project, key.build);
    const original = parts.queuesOfBuild.get(build);
    if (original === undefined) return false;
    const id = randomUUID();
    const existing = await putQueue(parts, {
      key: key.digest,
      id,
      at,
      blobs: () => copyOfBlobs(parts, original, id),
      content: () => {
        const record = parts.queues.get(original);
        // It expired meanwhile.
        if (!record) return null;
        const { other_list: _ofOriginal, ...copied } = record;
        // A batch that repeats earlier ones has no files of its own.
        const batches = batchesOf(parts, original).filter(({ isReplay, files }) => !isReplay && files.length > 0);
        return {
          record: { ...copied, repeats: true, copied_at: at, copied_runs_before: runsRecordedOf(parts, build), used_at: at },
          forecast: parts.forecasts.get(original)!,
          // No node works on a batch of the copy before it asks for it.
          batches: batches.map(batch => encodeBatch({ ...batch, delivered: true, lease: batch.lease ?? 'closed' })),
        };
      },
    });
    return existing !== null;
  }

  async update<Facts, Value>(
    { digest: key }: QueueKey,
    facts: (queue: OpenQueue) => Soon<Facts>,
    verb: (queue: OpenQueue, facts: Facts) => Verdict<Value>,
    at: Millis,
  ): Promise<Value | null> {
    const used_at = this.#inMemory(key)?.info.used_at ?? this.#usedAt(key);
    if (used_at === undefined) return null;
    if (at - used_at >= limits.lastUseUpdateMilliseconds) await this.#renewOnce(key, at);
    // Checked again in the turn that goes on, so that calls keep their order.
    while (this.#reading.has(key) || this.#leaving.has(key)) await (this.#reading.get(key) ?? this.#leaving.get(key));
    const open = this.#find(key);
    if (!open) return null;
    const known = facts(open);
    if (known instanceof Promise) return this.#runLater(key, known, verb);
    // No turn passes between both: a queue for which the cache has no room is kept only from the verb on.
    return this.#run(key, open, verb, known);
  }

  async noteOtherList({ id, other_list }: QueueInfo, difference: string): Promise<void> {
    const { queues } = this.parts;
    if (other_list !== undefined) return;
    await commit(this.parts, () => {
      const record = queues.get(id);
      if (record && record.other_list === undefined) void queues.put(id, { ...record, other_list: difference });
    });
  }

  files(queue: string, files: readonly number[]): Buffer {
    return readFiles(this.parts, queue, files);
  }

  size(queue: string): number {
    return weightsOfQueue(this.parts, queue).length;
  }

  batches(queue: string): Batch[] {
    return batchesOf(this.parts, queue);
  }

  copiedBatches(queue: string): Batch[] {
    return (this.parts.batches.get([queue, 0]) ?? []).map(decodeChange).filter(change => typeof change !== 'number');
  }

  forecast(queue: string): Forecast | null {
    return toForecast(this.parts.forecasts.get(queue));
  }

  readonly encode = encodeFileBlocks;

  load(): QueueLoad {
    let open = 0;
    let testFilesLeft = 0;
    for (const { queue } of this.#open.values()) {
      if (queue.filesLeft === 0) continue;
      open += 1;
      testFilesLeft += queue.filesLeft;
    }
    return { inMemory: this.#open.size, open, bytes: this.#open.calculatedSize, testFilesLeft };
  }

  /**
   * Drops a queue from memory when it expires.
   *
   * @param key the digest of its key
   */
  drop(key: string): void {
    this.#open.delete(key);
    this.#pinned.delete(key);
  }

  #info(id: string | undefined): QueueInfo | null {
    const record = id === undefined ? undefined : this.parts.queues.get(id);
    return record ? toQueueInfo(id!, record) : null;
  }

  #inMemory(key: string): CachedQueue | undefined {
    return this.#open.get(key) ?? this.#pinned.get(key);
  }

  #usedAt(key: string): Millis | undefined {
    const id = this.parts.queuesOfNodeBuild.get(key);
    return id === undefined ? undefined : this.parts.queues.get(id)?.used_at;
  }

  /** The queue in memory, or read back; null: there is none. */
  #find(key: string): CachedQueue | null {
    const cached = this.#inMemory(key);
    if (cached) return cached;
    const id = this.parts.queuesOfNodeBuild.get(key);
    return id === undefined ? null : readQueue(this.parts, id, this.options);
  }

  #keep(key: string, open: CachedQueue): void {
    if (this.#open.peek(key) === open) {
      if (bytesOf(open) < GROWN * open.bytes) return;
      // The cache measures an entry only when it is new.
      this.#open.delete(key);
    }
    this.#open.set(key, open);
    if (this.#open.peek(key) === open) this.#pinned.delete(key);
    else this.#pinIfBusy(key, open);
  }

  /** Keeps a queue for which the cache has no room while only memory has some of its changes, or knows of its answers under way. */
  #pinIfBusy(key: string, open: CachedQueue): void {
    if (open.queue.isAnswering || open.saving) this.#pinned.set(key, open);
    else this.#pinned.delete(key);
  }

  /** Once for all nodes of a build that ask at the same time. */
  #renewOnce(key: string, at: Millis): Promise<void> {
    let renewal = this.#renewing.get(key);
    if (!renewal) {
      renewal = this.#renew(key, at).finally(() => this.#renewing.delete(key));
      this.#renewing.set(key, renewal);
    }
    return renewal;
  }

  /** Notes that a queue is in use; drops it from memory when it expired meanwhile. */
  async #renew(key: string, at: Millis): Promise<void> {
    const { queues, queuesOfNodeBuild } = this.parts;
    const exists = await commit(this.parts, () => {
      const id = queuesOfNodeBuild.get(key);
      const record = id === undefined ? undefined : queues.get(id);
      if (record) void queues.put(id!, { ...record, used_at: at });
      return record !== undefined;
    });
    if (!exists) this.drop(key);
    const open = this.#inMemory(key);
    if (open) open.info.used_at = at;
  }

  async #run<Facts, Value>(
    key: string,
    open: CachedQueue,
    verb: (queue: OpenQueue, facts: Facts) => Verdict<Value>,
    facts: Facts,
  ): Promise<Value> {
    try {
      const { value, changes } = verb(open, facts);
      for (const change of changes) open.saving = this.parts.journal.write(open.id, change);
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

  /** Runs a verb when its facts are known. Later calls on the queue wait until then, so that they keep their order. */
  async #runLater<Facts, Value>(
    key: string,
    reading: Promise<Facts>,
    verb: (queue: OpenQueue, facts: Facts) => Verdict<Value>,
  ): Promise<Value | null> {
    let done = () => {};
    this.#reading.set(key, new Promise(resolve => (done = resolve)));
    let running: Promise<Value> | null;
    try {
      const facts = await reading;
      while (this.#leaving.has(key)) await this.#leaving.get(key);
      // Again, as the cache may have dropped it meanwhile.
      const open = this.#find(key);
      running = open && this.#run(key, open, verb, facts);
    } finally {
      this.#reading.delete(key);
      done();
    }
    return running;
  }

  /** Drops a queue whose memory may be ahead of the disk. The next request reads it back, unless one did already. */
  #forget(key: string, open: CachedQueue): void {
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
}
