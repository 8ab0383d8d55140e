import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { apiErrors } from '../../api-error.js';
import { beginningCiRun } from '../../engine/ci-run.js';
import { buildDigest, type QueueKey } from '../../engine/keys.js';
import { applyChange, type Change, type NewQueue, type OpenQueue, type QueueInfo, type Queues } from '../../engine/ports/queues.js';
import type { Millis } from '../../engine/ports/store.js';
import { type Batch, copyOf } from '../../engine/queue/batch.js';
import type { LeasePolicy } from '../../engine/queue/leases.js';
import { Queue } from '../../engine/queue/queue.js';
import { segment, toSegments } from '../../engine/segments.js';
import { plannedFile } from './planned-file.js';
import type { Tables } from './tables.js';

export interface QueueOptions {
  /** A weight. */
  pullCost: number;
  /** Null: nodes may be silent without limit. */
  lease: LeasePolicy | null;
}

type Content = Pick<NewQueue, 'files' | 'weights' | 'basis' | 'guessed' | 'forecast'>;

export class KeptQueue implements OpenQueue {
  queue: Queue;
  /** By seq. They are copies, as on a disk, because the queue changes its own batches. */
  readonly #batches: Map<number, Batch>;
  /** Settles with the last call of inTurn. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param copied the batches of the copied queue */
  constructor(
    public info: QueueInfo,
    /** The buildDigest. */
    readonly build: string,
    readonly content: Content,
    readonly options: QueueOptions,
    readonly copied: readonly Batch[] = [],
  ) {
    this.#batches = new Map(copied.map(batch => [batch.seq, batch]));
    this.queue = this.#open();
  }

  get id(): string {
    return this.info.id;
  }

  get batches(): Batch[] {
    return structuredClone([...this.#batches.values()].sort((a, b) => a.seq - b.seq));
  }

  /** Runs a call after the calls before it. After a call that failed, the queue is read back from its batches. */
  inTurn<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#last.then(call);
    this.#last = result.catch(() => (this.queue = this.#open()));
    return result;
  }

  keep(changes: readonly Change[]): void {
    for (const change of changes) applyChange(this.#batches, structuredClone(change));
  }

  #open(): Queue {
    const { pullCost, lease } = this.options;
    const { weights, guessed } = this.content;
    return new Queue(weights, { nodeTotal: this.info.node_total, pullCost, isGuessed: guessed }, this.batches, lease);
  }
}

export function memoryQueues({ queues, ciRuns, recorded }: Tables, options: QueueOptions): Queues {
  const runsOf = (build: string) => recorded.get(build) ?? 0;
  const newest = (build: string) => [...queues.values()].findLast(queue => queue.build === build);
  const byId = (id: string) => [...queues.values()].find(({ info }) => info.id === id);
  const digestOf = ({ project, build }: QueueKey) => buildDigest(project, build);
  const noteCiRun = (key: QueueKey, id: string, at: Millis) =>
    ciRuns.set(id, beginningCiRun(key, { id, kind: 'queue', plan: id, created_at: at, runs_before: runsOf(digestOf(key)) }));
  return {
    find: key => queues.get(key.digest)?.info ?? null,
    newest: (project, build) => newest(buildDigest(project, build))?.info ?? null,
    async create(key, { people: _people, list, ...content }, at) {
      const isNew = !queues.has(key.digest);
      if (isNew) {
        const build = digestOf(key);
        const { node_total } = key.build;
        const times = { created_at: at, runs_before: runsOf(build), used_at: at };
        const info: QueueInfo = { id: randomUUID(), name: key.digest, node_total, copied: null, list, ...times };
        queues.set(key.digest, new KeptQueue(info, build, content, options));
        noteCiRun(key, info.id, at);
      }
      await nextTurn();
      return isNew;
    },
    async repeat(key, at) {
      const build = digestOf(key);
      const last = newest(build);
      if (last && !queues.has(key.digest)) {
        const { other_list: _ofAnother, ...own } = last.info;
        const copied = { copied: { runs_before: runsOf(build), at }, used_at: at };
        const info: QueueInfo = { ...own, id: randomUUID(), ...copied };
        queues.set(key.digest, new KeptQueue(info, build, last.content, options, copyOf(last.batches)));
        noteCiRun(key, info.id, at);
      }
      await nextTurn();
      return last !== undefined;
    },
    async update(key, facts, verb, at) {
      const open = queues.get(key.digest);
      if (!open) return { value: null, saved: null };
      open.info = { ...open.info, used_at: Math.max(at, open.info.used_at) };
      const value = await open.inTurn(async () => {
        const verdict = verb(open, await facts(open));
        open.keep(verdict.changes);
        return verdict.value;
      });
      await nextTurn();
      return { value, saved: null };
    },
    async noteOtherList({ id }, other_list) {
      const queue = byId(id);
      // The first difference is kept.
      if (queue) queue.info = { other_list, ...queue.info };
      await nextTurn();
    },
    files(id, files) {
      const texts = byId(id)?.content.files;
      if (!texts) throw apiErrors.expired('queue');
      return Buffer.from(`[${files.map(file => segment(texts, file).toString()).join()}]`);
    },
    weights: id => byId(id)?.content.weights ?? new Float64Array(0),
    size: id => byId(id)?.content.weights.length ?? 0,
    batches: id => byId(id)?.batches ?? [],
    copiedBatches: id => structuredClone([...(byId(id)?.copied ?? [])]),
    forecast: id => byId(id)?.content.forecast ?? null,
    basis: id => byId(id)?.content.basis ?? null,
    encode: files => toSegments(Array.from(files.seconds, (_, file) => plannedFile(files, file))),
    load() {
      const left = [...queues.values()].map(({ queue }) => queue.filesLeft);
      return {
        inMemory: queues.size,
        open: left.filter(files => files > 0).length,
        bytes: [...queues.values()].reduce((sum, { content }) => sum + content.files.bytes.length, 0),
        testFilesLeft: left.reduce((sum, files) => sum + files, 0),
      };
    },
  };
}
