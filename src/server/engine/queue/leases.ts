import type { RemainingFiles } from '../../planning/batching/remaining-files.js';
import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import type { Batch, EndedLease, Pull } from './batch.js';

/** The time for which a node may be silent with a batch: `factor` times the expected duration of the batch, plus the grace. */
export interface LeasePolicy {
  factor: number;
  graceMilliseconds: number;
  /** Milliseconds on a monotonic clock. */
  uptime: () => number;
  /** The uptime at a time in milliseconds since 1970, at least the uptime at the server's start: the server may cause earlier silence. */
  uptimeAt: (millis: number) => number;
}

interface ActiveLease {
  batch: Batch;
  weight: number;
  /** The uptime at the node's last request. */
  heartbeatAt: number;
}

/** The batches that nodes work on, one a node. When a lease ends before its batch is done, the files go back to the queue. */
export class Leases {
  readonly #active = new Map<number, ActiveLease>();
  /** Files that were taken from a silent node. Each file is taken at most once. */
  readonly #reassigned = new Set<number>();
  /** No lease expires before this uptime. */
  #nextExpiry = Infinity;

  /** @param changed receives the batches whose leases end */
  constructor(
    readonly policy: LeasePolicy,
    readonly remaining: RemainingFiles,
    readonly changed: Batch[],
  ) {}

  /** The batch that the node works on; null: the node has none, or the server cannot tell. */
  batchOf(node: number): Batch | null {
    return this.#active.get(node)?.batch ?? null;
  }

  /** Adds a batch that is handed out now, or was before the queue was read back. */
  add(batch: Batch, weight: number): void {
    const { node_index, lease, files, handed_at } = batch;
    if (lease === 'expired' || lease === 'returned') for (const file of files) this.#reassigned.add(file);
    if (lease !== undefined && lease !== 'expired') {
      this.#active.delete(node_index);
      return;
    }
    const active = { batch, weight, heartbeatAt: this.policy.uptimeAt(handed_at) };
    this.#active.set(node_index, active);
    this.#nextExpiry = Math.min(this.#nextExpiry, this.#expiryOf(active));
  }

  /** Takes over when nodes were heard of from the leases of a queue that this one replaces. */
  adopt(before: Leases, isSame: (a: Batch, b: Batch) => boolean): void {
    for (const [node, { batch, heartbeatAt }] of before.#active) {
      const own = this.#active.get(node);
      if (own && isSame(own.batch, batch)) own.heartbeatAt = Math.max(own.heartbeatAt, heartbeatAt);
    }
  }

  release(node: number): void {
    this.#active.delete(node);
  }

  /** Requeues the batch of a node that restarts. */
  restart(node: number): void {
    const batch = this.batchOf(node);
    if (batch) this.#requeue(batch, 'restarted');
    this.release(node);
  }

  /**
   * Renews the lease of a node that repeats a pull, or ends it when the node asks for another batch. Then ends the leases of silent nodes.
   * @param isAnswering whether a node's answer is being sent: its lease does not expire
   */
  heartbeat(pull: Pull, isRepeated: boolean, isAnswering: (node: number) => boolean): void {
    const active = this.#active.get(pull.node_index);
    if (active) active.heartbeatAt = this.policy.uptime();
    const previous = active && !isRepeated ? active.batch : null;
    if (previous) {
      this.#end(previous, pull);
      this.release(pull.node_index);
    }
    for (const batch of this.#expired(isAnswering)) this.#requeue(batch, 'expired');
    // No later batch in the journal will show that this one is finished.
    if (previous && previous.lease === undefined && this.remaining.weight === 0) this.#setLease(previous, 'closed');
  }

  /** Ends the lease of a node that asks for another batch: it ran the previous one, unless it restarted. */
  #end(previous: Batch, { isFirstRequest, wantsLastSplit, acknowledges }: Pull): void {
    const getsItAgain = wantsLastSplit || (isFirstRequest && acknowledges === true);
    if (getsItAgain) return;
    if (isFirstRequest) {
      this.#requeue(previous, 'restarted');
    } else if (previous.lease === 'expired') {
      this.remaining.reclaim(previous.files);
      this.#setLease(previous, 'returned');
    }
  }

  /** Puts the files of a batch back into the queue. */
  #requeue(batch: Batch, lease: 'expired' | 'restarted'): void {
    if ((batch.isReplay && !batch.acknowledges) || batch.lease !== undefined) return;
    this.#setLease(batch, lease);
    this.remaining.putBack(lease === 'expired' ? this.#reassign(batch) : batch.files);
  }

  #setLease(batch: Batch, lease: EndedLease): void {
    batch.lease = lease;
    this.changed.push(batch);
  }

  /** Returns the files of an expired batch that go to another node. */
  #reassign({ files, delivered }: Batch): number[] {
    // Files that never reached this node were not reassigned to it.
    const reassigned = delivered ? files.filter(file => !this.#reassigned.has(file)) : files;
    for (const file of reassigned) this.#reassigned.add(file);
    return reassigned;
  }

  #expired(isAnswering: (node: number) => boolean): Batch[] {
    const now = this.policy.uptime();
    if (now < this.#nextExpiry) return [];
    this.#nextExpiry = Infinity;
    const expired: Batch[] = [];
    for (const active of this.#active.values()) {
      if (active.batch.lease !== undefined) continue;
      const expiry = isAnswering(active.batch.node_index) ? now + this.policy.graceMilliseconds : this.#expiryOf(active);
      if (now >= expiry) expired.push(active.batch);
      else this.#nextExpiry = Math.min(this.#nextExpiry, expiry);
    }
    return expired;
  }

  #expiryOf({ weight, heartbeatAt }: ActiveLease): number {
    const { factor, graceMilliseconds } = this.policy;
    return heartbeatAt + (1000 * factor * weight) / WEIGHTS_PER_SECOND + graceMilliseconds;
  }
}
