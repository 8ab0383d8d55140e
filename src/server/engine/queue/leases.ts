import type { RemainingFiles } from '../../planning/batching/remaining-files.js';
import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import { type Batch, type EndedLease, expectedWeight, type KeptDecision, movedFiles, type Pull } from './batch.js';
import type { Retries } from './retries.js';

/** The time for which a node may be silent with a batch. */
export interface LeasePolicy {
  /** Of a node that sends heartbeats; Infinity: for ever. */
  silenceMilliseconds: number;
  /** Of any other: `factor` times the expected duration of the batch, plus the grace. 0: for ever. */
  factor: number;
  graceMilliseconds: number;
  /** Milliseconds on a monotonic clock. */
  uptime: () => number;
  /** The uptime at a time in milliseconds since 1970, at least the uptime at the server's start: the server may cause earlier silence. */
  uptimeAt: (millis: number) => number;
}

/**
 * A node that sends heartbeats may keep a batch for this time, or for this multiple of the expected duration if that is longer: twice as long as its client
 * lets a command run, and more, because the client then runs the files one by one.
 */
const LONGEST_BATCH_MILLISECONDS = 7_200_000;
const LONGEST_BATCH_FACTOR = 20;

const NO_LEASES: LeasePolicy = {
  silenceMilliseconds: Infinity,
  factor: 0,
  graceMilliseconds: 0,
  uptime: () => 0,
  uptimeAt: () => 0,
};

/** Nodes send a heartbeat three times in this time. If the server hears of none at all for so long, it could not be reached. */
const OUTAGE_MILLISECONDS = 45_000;

/** A file that ends each node that runs it must not end them all. Without heartbeats, it may only take long. */
const MOST_REASSIGNED = 3;
const MOST_REASSIGNED_WITHOUT_HEARTBEATS = 1;

/** A node that stands by pulls again after this time: the CI run ends so much later. */
export const STANDBY_PULL_SECONDS = 1;
/** If it does not within this time, another one may stand by. */
const STANDBY_SILENCE_MILLISECONDS = 15_000;
/** A node stands by for this time at most, unless another one is silent. */
const STANDBY_MILLISECONDS = 300_000;
/** A node has missed a heartbeat that is silent for longer. */
const MISSED_MILLISECONDS = 20_000;

interface ActiveLease {
  batch: Batch;
  /** The uptime at which the batch was handed out, or read back: until then the node may have told another process that it lives. */
  from: number;
  /** The uptime at the node's last request; 0: there was none. */
  heardAt: number;
  /** Milliseconds of silence after which the lease ends. */
  patience: number;
  /** The uptime at which it ends although the node is not silent. */
  endsAt: number;
}

interface Standby {
  since: number;
  heardAt: number;
}

/** The batches that nodes work on, one a node. When a lease ends before its batch is done, the files go back to the queue. */
export class Leases {
  readonly #active = new Map<number, ActiveLease>();
  /** How often files were taken from nodes that were silent or cancelled. */
  readonly #reassigned = new Map<number, number>();
  /** No lease expires before this uptime. */
  #nextExpiry = Infinity;
  /** The uptime at the last request of any node. */
  #heardAt = 0;
  /** The nodes that stand by. */
  #standbys = new Map<number, Standby>();

  readonly policy: LeasePolicy;

  /**
   * @param policy null: no lease ends
   * @param changed receives the batches whose leases end
   */
  constructor(
    policy: LeasePolicy | null,
    readonly remaining: RemainingFiles,
    readonly retries: Retries,
    readonly changed: Batch[],
  ) {
    this.policy = policy ?? NO_LEASES;
  }

  /** The batch that the node works on; null: the node has none, or the server cannot tell. */
  batchOf(node: number): Batch | null {
    return this.#active.get(node)?.batch ?? null;
  }

  /**
   * Adds a batch that is handed out now, or was before the queue was read back.
   * @param weight of its files
   * @param decision by which they were to take their time: its own, or the newest one
   */
  add(batch: Batch, weight: number, decision: KeptDecision | null, isReadBack: boolean): void {
    const { node_index, lease, files, handed_at, heartbeats } = batch;
    const { silenceMilliseconds, factor, graceMilliseconds, uptime, uptimeAt } = this.policy;
    if (lease === 'expired' || lease === 'returned' || lease === 'cancelled') this.#countReassigned(files);
    const isOver = (lease !== undefined && lease !== 'expired') || batch.failed !== undefined;
    if (isOver || (heartbeats ? silenceMilliseconds === Infinity : factor === 0)) {
      this.#active.delete(node_index);
      return;
    }
    const handedAt = uptimeAt(handed_at);
    const expected = (1000 * expectedWeight(decision, files.length, weight)) / WEIGHTS_PER_SECOND;
    const active: ActiveLease = {
      batch,
      from: heartbeats && isReadBack ? uptime() : handedAt,
      heardAt: 0,
      patience: heartbeats ? silenceMilliseconds : factor * expected + graceMilliseconds,
      endsAt: heartbeats ? handedAt + Math.max(LONGEST_BATCH_MILLISECONDS, LONGEST_BATCH_FACTOR * expected) : Infinity,
    };
    this.#active.set(node_index, active);
    this.#nextExpiry = Math.min(this.#nextExpiry, expiryOf(active));
  }

  /** Takes over when nodes were heard of from the leases of a queue that this one replaces. */
  adopt(before: Leases, isSame: (a: Batch, b: Batch) => boolean): void {
    for (const [node, { batch, from, heardAt }] of before.#active) {
      const own = this.#active.get(node);
      if (own && isSame(own.batch, batch)) Object.assign(own, { from, heardAt });
    }
    this.#nextExpiry = 0;
    this.#heardAt = before.#heardAt;
    this.#standbys = before.#standbys;
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

  /** Puts the files of a batch back into the queue, because its node is cancelled. The caller journals the batch. */
  cancel(batch: Batch): void {
    this.#putBack(batch, 'cancelled');
    this.release(batch.node_index);
  }

  /** Renews the lease of a node. Returns the seconds after which it ends unless the node is heard of; null: the node has none. */
  renew(node: number): number | null {
    this.#noteOutage();
    const active = this.#active.get(node);
    if (!active) return null;
    active.heardAt = this.policy.uptime();
    if (active.batch.lease !== undefined) return null;
    return Math.max(0, expiryOf(active) - active.heardAt) / 1000;
  }

  /** The nodes that were heard of since an uptime, with the uptime of each. */
  heardSince(since: number): [node: number, at: number][] {
    const heard: [number, number][] = [];
    for (const [node, { batch, heardAt }] of this.#active) if (batch.heartbeats && heardAt > since) heard.push([node, heardAt]);
    return heard;
  }

  /** Tells whether a lease of a node that sends heartbeats ends now, unless another process has heard of the node. */
  get areEnding(): boolean {
    const now = this.policy.uptime();
    if (now < this.#nextExpiry) return false;
    for (const active of this.#active.values())
      if (active.batch.heartbeats && active.batch.lease === undefined && now >= expiryOf(active)) return true;
    return false;
  }

  /** Takes over the uptimes at which other processes heard of nodes. */
  hear(heard: Iterable<readonly [node: number, at: number]>): void {
    for (const [node, at] of heard) {
      const active = this.#active.get(node);
      if (active) active.heardAt = Math.max(active.heardAt, at);
    }
  }

  /**
   * Renews the lease of a node that repeats a pull, or ends it when the node asks for another batch. Then ends the leases of silent nodes.
   * @param isAnswering whether a node's answer is being sent: its lease does not expire
   */
  pulled(pull: Pull, isRepeated: boolean, isAnswering: (node: number) => boolean): void {
    this.renew(pull.node_index);
    const previous = isRepeated ? null : this.batchOf(pull.node_index);
    if (previous) {
      this.#end(previous, pull);
      this.release(pull.node_index);
    }
    for (const batch of this.#expired(isAnswering)) this.#requeue(batch, 'expired');
    // No later batch in the journal will show that this one is finished.
    const isOpen = previous && previous.lease === undefined && previous.failed === undefined;
    if (isOpen && this.remaining.weight === 0) this.#setLease(previous, 'closed');
  }

  /**
   * Tells whether a node, for which no file is left, should wait for files of nodes that are at work. One node waits in any case, and others if nodes
   * are silent: as many as these have files. A node leaves only in favour of those with lower indices: of two that wait, and that two processes know,
   * each would otherwise leave in favour of the other.
   */
  standsBy(node: number): boolean {
    const now = this.policy.uptime();
    let atWork = 0;
    let silentFiles = 0;
    for (const [other, { batch, from, heardAt }] of this.#active) {
      if (other === node || batch.lease !== undefined) continue;
      atWork += 1;
      this.#standbys.delete(other);
      if (now - Math.max(from, heardAt) > MISSED_MILLISECONDS) silentFiles += batch.files.length;
    }
    const { since } = this.#standbys.get(node) ?? { since: now };
    this.#standbys.delete(node);
    let standingBy = 0;
    for (const [other, { heardAt }] of this.#standbys) {
      if (now - heardAt >= STANDBY_SILENCE_MILLISECONDS) this.#standbys.delete(other);
      else if (other < node) standingBy += 1;
    }
    const wanted = Math.max(silentFiles, atWork > 0 && now - since < STANDBY_MILLISECONDS ? 1 : 0);
    if (standingBy >= wanted) return false;
    this.#standbys.set(node, { since, heardAt: now });
    return true;
  }

  /** Tells whether a node that sends heartbeats loses its batch when it is silent. */
  get doEnd(): boolean {
    return this.policy.silenceMilliseconds < Infinity;
  }

  /** Tells whether another node stands by, of some. */
  hasStandby(node: number, some: ReadonlySet<number>): boolean {
    const now = this.policy.uptime();
    for (const [other, { heardAt }] of this.#standbys)
      if (other !== node && some.has(other) && now - heardAt < STANDBY_SILENCE_MILLISECONDS) return true;
    return false;
  }

  /** Ends the lease of a node that asks for another batch: it ran the previous one, unless it restarted. */
  #end(previous: Batch, { isFirstRequest, wantsLastSplit, acknowledges }: Pull): void {
    const getsItAgain = wantsLastSplit || (isFirstRequest && acknowledges === true);
    // Another node waits for the retry.
    if (getsItAgain && !previous.retry) return;
    if (isFirstRequest) {
      this.#requeue(previous, 'restarted');
    } else if (previous.lease === 'expired') {
      this.remaining.reclaim(previous.files);
      this.#setLease(previous, 'returned');
    }
  }

  #requeue(batch: Batch, lease: 'expired' | 'restarted'): void {
    if ((batch.isReplay && !batch.acknowledges) || batch.lease !== undefined) return;
    this.#putBack(batch, lease);
    this.changed.push(batch);
  }

  /** Ends the lease of a batch. Its files go back to the queue, except those that were taken from too many nodes. */
  #putBack(batch: Batch, lease: 'expired' | 'restarted' | 'cancelled'): void {
    batch.lease = lease;
    if (lease !== 'restarted') this.#noteKept(batch);
    if (batch.retry) this.retries.note(batch);
    else this.remaining.putBack(movedFiles(batch));
  }

  #setLease(batch: Batch, lease: EndedLease): void {
    batch.lease = lease;
    this.changed.push(batch);
  }

  /** Notes which files of a batch stay with its node. */
  #noteKept(batch: Batch): void {
    const most = batch.heartbeats ? MOST_REASSIGNED : MOST_REASSIGNED_WITHOUT_HEARTBEATS;
    // Files that never reached this node were not reassigned to it.
    const kept = batch.delivered ? batch.files.filter(file => (this.#reassigned.get(file) ?? 0) >= most) : [];
    if (kept.length > 0) batch.kept = kept;
    this.#countReassigned(batch.files);
  }

  #countReassigned(files: readonly number[]): void {
    for (const file of files) this.#reassigned.set(file, (this.#reassigned.get(file) ?? 0) + 1);
  }

  #expired(isAnswering: (node: number) => boolean): Batch[] {
    const now = this.policy.uptime();
    if (now < this.#nextExpiry) return [];
    this.#nextExpiry = Infinity;
    const expired: Batch[] = [];
    for (const active of this.#active.values()) {
      if (active.batch.lease !== undefined) continue;
      const expiry = isAnswering(active.batch.node_index) ? now + this.policy.graceMilliseconds : expiryOf(active);
      if (now >= expiry) expired.push(active.batch);
      else this.#nextExpiry = Math.min(this.#nextExpiry, expiry);
    }
    return expired;
  }

  /** After a time in which no node was heard of, nobody was silent: none could reach the server. */
  #noteOutage(): void {
    const now = this.policy.uptime();
    const gap = now - this.#heardAt;
    const isFirst = this.#heardAt === 0;
    this.#heardAt = now;
    if (isFirst || gap < OUTAGE_MILLISECONDS) return;
    for (const active of this.#active.values()) if (active.batch.heartbeats) active.from = Math.max(active.from, active.heardAt) + gap;
  }
}

function expiryOf({ from, heardAt, patience, endsAt }: ActiveLease): number {
  return Math.min(Math.max(from, heardAt) + patience, endsAt);
}
