import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import type { Batch } from './batch.js';

/** How long a node may be silent with a batch: `factor` times its expected duration, and the grace. */
export interface Lease {
  factor: number;
  graceMilliseconds: number;
  /** Milliseconds since whenever: unlike the time of day it is never set. */
  uptime: () => number;
  /** What that was at a time (milliseconds since 1970) since the server started: what was silent before may have been the server. */
  uptimeAt: (millis: number) => number;
}

interface Holder {
  batch: Batch;
  weight: number;
  /** The uptime when the node was heard of last. */
  heardAt: number;
}

/** Which nodes work on what, and which of them are silent for too long. */
export class Leases {
  readonly #holders = new Map<number, Holder>();
  /** Files that went from a silent node to another: they do so once. */
  readonly #handedOn = new Set<number>();
  /** Nobody's lease ends before that. */
  #nextEnd = Infinity;

  constructor(readonly lease: Lease) {}

  /** What the node works on, as far as it is known. */
  of(node: number): Batch | null {
    return this.#holders.get(node)?.batch ?? null;
  }

  /** A batch was handed out, now or before the queue was read back. */
  add(batch: Batch, weight: number): void {
    const { node_index, lease, files, handed_at } = batch;
    if (lease === 'expired' || lease === 'returned') for (const file of files) this.#handedOn.add(file);
    if (lease !== undefined && lease !== 'expired') {
      this.#holders.delete(node_index);
      return;
    }
    const holder = { batch, weight, heardAt: this.lease.uptimeAt(handed_at) };
    this.#holders.set(node_index, holder);
    this.#nextEnd = Math.min(this.#nextEnd, this.#endOf(holder));
  }

  /** The files of a lost batch that go to another. */
  reassign({ files, delivered }: Batch): number[] {
    // Once; but what never reached its node was not handed on to it.
    const own = delivered ? files.filter(file => !this.#handedOn.has(file)) : files;
    for (const file of own) this.#handedOn.add(file);
    return own;
  }

  release(node: number): void {
    this.#holders.delete(node);
  }

  heartbeat(node: number): void {
    const holder = this.#holders.get(node);
    if (holder) holder.heardAt = this.lease.uptime();
  }

  /** The batches whose nodes are silent for too long; each is told once, and none that is still on its way. */
  takeExpired(isAnswering: (node: number) => boolean): Batch[] {
    const now = this.lease.uptime();
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
    return heardAt + (1000 * factor * weight) / WEIGHTS_PER_SECOND + graceMilliseconds;
  }
}
