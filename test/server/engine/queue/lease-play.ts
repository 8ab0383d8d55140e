import type { Batch, Pull } from '../../../../src/server/engine/queue/batch.js';
import type { LeasePolicy } from '../../../../src/server/engine/queue/leases.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import type { BatchSums } from '../../../../src/server/planning/batching/batch-cost.js';
import { NOW, requestOf } from './requests.js';

export const MINUTE = 60_000;
/** Files of 10 s each, and batches of one. */
const FILES = 6;

/** A queue with its journal and a clock. */
export class Play {
  /** The time of day, which may be set. */
  now = NOW;
  clockIsAhead = 0;
  readonly journal = new Map<number, Batch>();
  queue: Queue;

  /** @param policy in place of 3 times the expected duration, and a minute */
  constructor(
    readonly nodeTotal = 100,
    readonly learned: BatchSums | null = null,
    readonly policy: Partial<LeasePolicy> = {},
  ) {
    this.queue = this.#newQueue();
  }

  #newQueue(): Queue {
    const outlook = { nodeTotal: this.nodeTotal, pullCost: 0, isGuessed: false, learned: this.learned };
    const batches = [...this.journal.values()].map(batch => structuredClone(batch));
    return new Queue(new Float64Array(FILES).fill(100_000), outlook, batches, {
      silenceMilliseconds: Infinity,
      factor: 3,
      graceMilliseconds: MINUTE,
      uptime: () => this.now - this.clockIsAhead,
      // The server starts when the queue is read back.
      uptimeAt: () => this.now - this.clockIsAhead,
      ...this.policy,
    });
  }

  pull(node_index: number, overrides: Partial<Pull> = {}): number[] {
    const handed = this.queue.pull(requestOf({ node_index, ...overrides }), this.now);
    this.note(this.queue.takeChanged());
    if (handed?.isNew) this.note([handed.batch]);
    if (handed) this.queue.delivered(handed.batch.seq);
    return handed?.batch.files ?? [];
  }

  note(changed: readonly Batch[]): void {
    for (const batch of changed) this.journal.set(batch.seq, structuredClone(batch));
  }

  /** Pulls until the end of the queue. Returns all files. */
  drain(node_index: number, overrides: Partial<Pull> = {}): number[] {
    const files: number[] = [];
    for (let batch = this.pull(node_index, overrides); batch.length > 0; batch = this.pull(node_index, overrides)) files.push(...batch);
    return files;
  }

  readBack(): void {
    for (const batch of this.journal.values()) batch.delivered = true;
    this.queue = this.#newQueue();
  }
}
