import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import type { Batch } from './batch.js';

/** How long a node may be silent with a batch: `factor` times its expected duration, and the grace. */
export interface LeasePolicy {
  factor: number;
  graceMilliseconds: number;
  /** Milliseconds since whenever: unlike the time of day it is never set. */
  uptime: () => number;
  /** What that was at a time (milliseconds since 1970) since the server started: what was silent before may have been the server. */
  uptimeAt: (millis: number) => number;
}

interface ActiveLease {
  batch: Batch;
  weight: number;
  /** The uptime when the node was heard of last. */
  heardAt: number;
}

/** Which nodes work on what, and which of them are silent for too long. */
export class Leases {
  readonly #active = new Map<number, ActiveLease>();
  /** Files that went from a silent node to another: they do so once. */
  readonly #reassigned = new Set<number>();
  /** Nobody's lease ends before that. */
  #nextExpiry = Infinity;

  constructor(readonly lease: LeasePolicy) {}

  /** What the node works on, as far as it is known. */
  batchOf(node: number): Batch | null {
    return this.#active.get(node)?.batch ?? null;
  }

  /** A batch was handed out, now or before the queue was read back. */
  add(batch: Batch, weight: number): void {
    const { node_index, lease, files, handed_at } = batch;
    if (lease === 'expired' || lease === 'returned') for (const file of files) this.#reassigned.add(file);
    if (lease !== undefined && lease !== 'expired') {
      this.#active.delete(node_index);
      return;
    }
    const holder = { batch, weight, heardAt: this.lease.uptimeAt(handed_at) };
    this.#active.set(node_index, holder);
    this.#nextExpiry = Math.min(this.#nextExpiry, this.#expiryOf(holder));
  }

  /** The files of a lost batch that go to another. */
  reassign({ files, delivered }: Batch): number[] {
    // Once; but what never reached its node was not handed on to it.
    const own = delivered ? files.filter(file => !this.#reassigned.has(file)) : files;
    for (const file of own) this.#reassigned.add(file);
    return own;
  }

  release(node: number): void {
    this.#active.delete(node);
  }

  heartbeat(node: number): void {
    const holder = this.#active.get(node);
    if (holder) holder.heardAt = this.lease.uptime();
  }

  /** The batches whose nodes are silent for too long; each is told once, and none that is still on its way. */
  takeExpired(isAnswering: (node: number) => boolean): Batch[] {
    const now = this.lease.uptime();
    if (now < this.#nextExpiry) return [];
    this.#nextExpiry = Infinity;
    const overdue: Batch[] = [];
    for (const holder of this.#active.values()) {
      if (holder.batch.lease !== undefined) continue;
      const end = isAnswering(holder.batch.node_index) ? now + this.lease.graceMilliseconds : this.#expiryOf(holder);
      if (now >= end) overdue.push(holder.batch);
      else this.#nextExpiry = Math.min(this.#nextExpiry, end);
    }
    return overdue;
  }

  #expiryOf({ weight, heardAt }: ActiveLease): number {
    const { factor, graceMilliseconds } = this.lease;
    return heardAt + (1000 * factor * weight) / WEIGHTS_PER_SECOND + graceMilliseconds;
  }
}
