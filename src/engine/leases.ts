import { WEIGHTS_PER_SECOND } from '../plan/weight.js';
import type { Batch } from './batch.js';

/** How long a node may be silent with a batch: so many times what that is expected to take, and so long besides. */
export interface Lease {
  factor: number;
  graceMilliseconds: number;
}

interface Holder {
  batch: Batch;
  weight: number;
  /** When the node was heard of last. */
  heardAt: number;
}

/** Which nodes work on what, and which of them are silent for too long. Times are milliseconds since 1970. */
export class Leases {
  readonly #holders = new Map<number, Holder>();
  /** Nobody's lease ends before that. */
  #nextEnd = Infinity;
  /** When the queue was first asked since it was made or read back: what was silent before may have been the server. */
  #since: number | null = null;

  constructor(readonly lease: Lease) {}

  /** What the node works on, as far as it is known. */
  of(node: number): Batch | null {
    return this.#holders.get(node)?.batch ?? null;
  }

  begin(batch: Batch, weight: number): void {
    const holder = { batch, weight, heardAt: batch.handed_at };
    this.#holders.set(batch.node_index, holder);
    this.#nextEnd = Math.min(this.#nextEnd, this.#endOf(holder));
  }

  end(node: number): void {
    this.#holders.delete(node);
  }

  hear(node: number, now: number): void {
    this.#since ??= now;
    const holder = this.#holders.get(node);
    if (holder) holder.heardAt = now;
  }

  /** The batches whose nodes are silent for too long; each is told once, and none that is still on its way. */
  takeOverdue(now: number, isAnswering: (node: number) => boolean): Batch[] {
    if (now < this.#nextEnd) return [];
    this.#nextEnd = Infinity;
    const overdue: Batch[] = [];
    for (const holder of this.#holders.values()) {
      if (holder.batch.lease !== undefined) continue;
      const end = isAnswering(holder.batch.node_index) ? now + this.lease.graceMilliseconds : this.#endOf(holder);
      if (now >= end) overdue.push(holder.batch);
      else this.#nextEnd = Math.min(this.#nextEnd, end);
    }
    return overdue;
  }

  #endOf({ weight, heardAt }: Holder): number {
    const { factor, graceMilliseconds } = this.lease;
    return Math.max(heardAt, this.#since ?? 0) + (1000 * factor * weight) / WEIGHTS_PER_SECOND + graceMilliseconds;
  }
}
