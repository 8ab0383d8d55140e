import type { BatchSums } from '../../planning/batching/batch-cost.js';
import { batchWeight, type QueueParameters } from '../../planning/batching/batch-weight.js';
import { firstBatchWeight, wouldDelay } from '../../planning/batching/first-files.js';
import { RemainingFiles } from '../../planning/batching/remaining-files.js';
import {
  type Batch,
  BatchText,
  isRequeued,
  isSameReplay,
  type KeptDecision,
  keepDecision,
  movedFiles,
  type Pull,
  takenFiles,
} from './batch.js';
import { type ExpectedEnd, expectedEnd } from './expected-end.js';
import type { Failed } from './failed.js';
import { type LeasePolicy, Leases } from './leases.js';
import { type Answering, isSameHandOut, Node, type Replay } from './node.js';
import { NodeSpeeds } from './node-speeds.js';
import { Retries } from './retries.js';

/** The state of a queue that several processes have in memory. */
export interface Shared {
  /** The queue that this one replaces, because another process changed it, and its answers before it was changed; null: none. */
  before: { queue: Queue; answering: readonly Answering[] } | null;
}

const NO_FILES: readonly number[] = [];

/**
 * One queue: the files that remain, and the batches that each node was handed. It is pure: the caller journals the changes.
 * It hands out every file at least once, and exactly once unless a request or a node fails.
 */
export class Queue {
  /** The files that go first. */
  readonly #first: readonly number[];
  readonly #remaining: RemainingFiles;
  readonly #speeds: NodeSpeeds;
  readonly #nodes = new Map<number, Node>();
  readonly #bySeq = new Map<number, Batch>();
  readonly #leases: Leases;
  readonly #retries: Retries;
  /** The nodes that get retries, as far as they were heard of. */
  readonly #retrying = new Set<number>();
  /** Batches to journal besides those that the verbs return. */
  readonly #changed: Batch[] = [];
  #nextSeq = 0;
  #filesHanded = 0;
  /** The batches that this process handed out; null: no other process has the queue. */
  readonly #own: Set<Batch> | null;
  /** The batches that are not saved yet: another process may be faster. */
  #unsaved: Batch[] = [];
  /** The text from clients in its batches. */
  readonly text = new BatchText();

  /**
   * @param weights predictions by file (see weight.ts), in descending order
   * @param batches those handed out before, when the queue is read back
   * @param shared null: no other process has the queue
   */
  constructor(
    readonly weights: Float64Array,
    readonly parameters: QueueParameters,
    batches: Iterable<Batch> = [],
    leasePolicy: LeasePolicy | null = null,
    shared: Shared | null = null,
  ) {
    this.#own = shared && new Set();
    this.#first = parameters.first ?? NO_FILES;
    this.#remaining = new RemainingFiles(weights, this.#first);
    this.#retries = new Retries(weights, this.#remaining.weight);
    this.#leases = new Leases(leasePolicy, this.#remaining, this.#retries, this.#changed);
    this.#speeds = new NodeSpeeds(parameters, this.#remaining.weight / weights.length);
    const handedOut = [...batches];
    if (handedOut.length > 0) this.#restore(handedOut);
    if (shared?.before) this.#adopt(shared.before);
  }

  /** Notes that all changes are saved. Only a queue that several processes have needs to know. */
  saved(): void {
    for (const batch of this.#unsaved.splice(0)) this.#own?.add(batch);
  }

  /** The pulls that are being answered with batches. */
  get answering(): Answering[] {
    const answering: Answering[] = [];
    for (const node of this.#nodes.values()) if (node.isAnswering) answering.push(...node.answering);
    return answering;
  }

  /** Tells whether answers with batches are being sent. */
  get isAnswering(): boolean {
    for (const node of this.#nodes.values()) if (node.isAnswering) return true;
    return false;
  }

  /** Returns what the batches that ended since the last call tell about their cost; null: nothing. */
  takeObserved(): BatchSums | null {
    return this.#speeds.estimate.takeObserved();
  }

  get batchCount(): number {
    return this.#bySeq.size;
  }

  /** The number of files in all batches. Replays count again. */
  get filesHanded(): number {
    return this.#filesHanded;
  }

  get filesLeft(): number {
    return this.#remaining.count;
  }

  /** When all nodes are expected to end; null: most files were never measured, or no batch was sized yet. */
  expectedEnd(now: number): ExpectedEnd | null {
    const { nodeTotal, isGuessed } = this.parameters;
    if (isGuessed) return null;
    const { weights, filesLeft } = this;
    return expectedEnd({ nodeTotal, batches: [...this.#bySeq.values()], weights, filesLeft, hasRecorded: () => false }, now);
  }

  /** The decision behind the newest batch that the planner sized; null: it has sized none. */
  get newestDecision(): KeptDecision | null {
    return [...this.#bySeq.values()].findLast(({ decision }) => decision !== null)?.decision ?? null;
  }

  /** The files that a node was handed, in all its runs. */
  filesOf(node: number): number[] {
    return this.#nodes.get(node)?.files ?? [];
  }

  /**
   * Hands out the next batch of a node. A node gets the first of these that is there:
   *
   * 1. The batch that it has, if it repeats the request that the batch answered.
   * 2. In the first request of a run, files that it had before: all of them for the last split, those that it did not finish if it
   *    acknowledges its batches.
   * 3. Files that no node has: those that go first (see first-files.ts), those that were put back, then the slowest, as many as fit in its share.
   * 4. If its client retries files: one that failed, on this node only if no other one is free.
   *
   * Null: the end of the queue, or the process was cancelled. A batch with `isNew` is to be journaled. The caller reports `delivered` or
   * `undelivered`.
   */
  pull(request: Pull, now: number): { batch: Batch; isNew: boolean } | null {
    const node = this.#node(request.node_index);
    // The pull was on its way when its process ended.
    if (node.isCancelled(request.run)) return null;
    const repeated = node.repeatedBatch(request);
    this.#endLeases(request, repeated !== null);
    if (repeated) return { batch: node.beginAnswer(this.#repeat(repeated), request), isNew: false };

    const replay = node.replay(request);
    const last = node.batches.at(-1);
    // Nothing happened in between, so the same batch answers the pull, even with another uuid.
    if (replay && last && isSameReplay(last, request, replay.files))
      return { batch: node.beginAnswer(this.#repeat(last), request), isNew: false };

    this.#speeds.recordPull(request.node_index, request.isFirstRequest, now);
    // Without leases, a node would wait for ever for a retry whose node died.
    if (request.retriesFailed && this.#leases.doEnd) this.#retrying.add(request.node_index);
    else this.#retrying.delete(request.node_index);
    const batch = this.#newBatch(request, last, replay, now);
    if (batch.files.length === 0) {
      node.markEmptyHanded(request);
      this.#speeds.leave(request.node_index);
      // The node may never record its earlier batches, so the journal must show that it restarted and got nothing.
      if (request.isFirstRequest && last && !request.acknowledges && node.recordEmptyStart(now)) {
        this.#nextSeq += 1;
        this.#changed.push(batch);
      }
      return null;
    }
    this.#add(batch);
    if (batch.retry) this.#retries.note(batch);
    if (this.#own) this.#unsaved.push(batch);
    return { batch: node.beginAnswer(batch, request), isNew: true };
  }

  /** See Node.lacksNote. */
  lacksNote(request: Pull): boolean {
    return this.#nodes.get(request.node_index)?.lacksNote(request) ?? false;
  }

  /**
   * Notes that the answer with the batch was written. Returns whether that is to be journaled: after a restart, a batch without a uuid goes to
   * its node again if it may not have reached it.
   */
  delivered(seq: number): boolean {
    const batch = this.#bySeq.get(seq);
    if (!batch) return false;
    const node = this.#node(batch.node_index);
    node.endAnswer(batch, true);
    node.confirm(batch);
    const isToJournal = !batch.delivered && batch.batch_uuid === null;
    batch.delivered = true;
    return isToJournal;
  }

  /**
   * Takes back a batch whose client left before the answer was written. Its files are handed out next.
   * Returns false, and changes nothing, when another answer carries or carried the batch to the node.
   */
  undelivered(seq: number): boolean {
    const batch = this.#bySeq.get(seq);
    if (!batch) return false;
    const node = this.#node(batch.node_index);
    if (node.endAnswer(batch, false) > 0 || batch.delivered || batch.repeated) return false;
    node.remove(batch);
    this.#bySeq.delete(seq);
    this.text.remove(batch);
    this.#speeds.discardBatch(batch.node_index);
    if (this.#leases.batchOf(batch.node_index) === batch) {
      this.#leases.release(batch.node_index);
      // The node still works only on the batches that the replay was made from.
      const before = node.batches.at(-1);
      if (batch.isReplay && before) this.#lease(before, this.#weightOf(before), false);
    }
    if (batch.retry) this.#retries.takeBack(batch);
    else if (!batch.isReplay && !isRequeued(batch)) this.#remaining.putBack(batch.files);
    return true;
  }

  /** Returns each batch to journal that no verb returned, once: its lease ended, or it is the empty batch of a restart. */
  takeChanged(): Batch[] {
    return this.#changed.splice(0);
  }

  /**
   * The batch that a request acknowledges; null when it belongs to another node or is acknowledged already.
   * A restored store may assign a seq twice, so a request never acknowledges the batch that answered it.
   */
  batchOf({ node_index, batch_uuid }: Pick<Pull, 'node_index' | 'batch_uuid'>, seq: number): Batch | null {
    const batch = this.#bySeq.get(seq);
    return batch?.node_index !== node_index || batch.batch_uuid === batch_uuid || batch.failed ? null : batch;
  }

  /**
   * Records that a node ran a batch, and its failures. Returns the batch; null: it is acknowledged already, or not of the node.
   *
   * @param times see Retries.note
   */
  acknowledge(
    pull: Pick<Pull, 'node_index' | 'batch_uuid'>,
    seq: number,
    failed: Failed,
    times?: readonly (number | null)[],
  ): Batch | null {
    const batch = this.batchOf(pull, seq);
    if (!batch) return null;
    this.text.addFailed(batch, failed);
    this.#retries.note(batch, times);
    return batch;
  }

  /**
   * Notes that a process of a node is cancelled. The files of its last batch that it did not report as passed are the next to be handed out.
   * Returns that batch, to be journaled; null: the process has none, another process of the node has begun, or nothing is new.
   *
   * @param report the batch that the process worked on, and what did not pass of it; null: it does not know yet
   */
  cancel({ node_index, run }: Pick<Pull, 'node_index' | 'run'>, report: { seq: number; failed: Failed } | null, now: number): Batch | null {
    const last = this.#nodes.get(node_index)?.batches.at(-1);
    if (last?.run !== run) return null;
    const isNew = last.cancelled_at === undefined;
    if (isNew) {
      last.cancelled_at = now;
      if (last.acknowledges && !last.failed && last.lease === undefined) this.#leases.cancel(last);
      else this.#leases.release(node_index);
      this.#speeds.leave(node_index);
    }
    const isTold = report?.seq === last.seq && !last.failed;
    if (isTold) this.text.addFailed(last, report.failed);
    if (isTold && last.retry) this.#retries.note(last);
    else if (isTold && last.lease === 'cancelled') {
      const back = new Set(movedFiles(last));
      this.#remaining.reclaim(last.files.filter(file => !back.has(file)));
    }
    return isNew || isTold ? last : null;
  }

  /**
   * Notes that a process of a node lives. Returns the seconds after which its lease ends unless it is heard of again; null: it has no lease. False:
   * the process has no batch, or another process of the node has begun.
   */
  heartbeat(node: number, run: string): number | null | false {
    const last = this.#nodes.get(node)?.batches.at(-1);
    return last?.run === run && this.#leases.renew(node);
  }

  /** See Leases. */
  get areLeasesEnding(): boolean {
    return this.#leases.areEnding;
  }

  /** See Leases. */
  hear(heard: Iterable<readonly [node: number, at: number]>): void {
    this.#leases.hear(heard);
  }

  /** See Leases. */
  heardSince(since: number): [node: number, at: number][] {
    return this.#leases.heardSince(since);
  }

  /**
   * Tells whether the node was taken for dead, and came back with the pull that this batch answers; null: that no batch answers. It knows only its
   * own process.
   */
  hasReturned({ node_index, run }: Pick<Pull, 'node_index' | 'run'>, batch: Batch | null): boolean {
    const batches = this.#nodes.get(node_index)?.batches ?? [];
    const before = batches[(batch ? batches.lastIndexOf(batch) : batches.length) - 1];
    return before?.run === run && before.lease === 'returned';
  }

  /** Tells whether a node, for which no file is left, should wait: for files of other nodes (see Leases), or for the retries of its own. */
  standsBy(node: number): boolean {
    const isWanted = this.#leases.standsBy(node) || (this.#retrying.has(node) && this.#retries.isOpenFor(node));
    if (isWanted) this.#speeds.stay(node);
    return isWanted;
  }

  /** See Retries. */
  passedAgain(node: number): number[] {
    return this.#retries.passedOf(node);
  }

  /** Tells whether some node was cancelled, and has not come back since. */
  get hasCancelled(): boolean {
    for (const { batches } of this.#nodes.values()) if (batches.at(-1)?.cancelled_at !== undefined) return true;
    return false;
  }

  /** Requeues the batch of a node that restarts and does not pull yet. */
  restartNode(node: number): void {
    this.#leases.restart(node);
  }

  /** Ends the lease of a node that pulls, and those of silent nodes. */
  #endLeases(request: Pull, isRepeated: boolean): void {
    const before = this.#changed.length;
    this.#leases.pulled(request, isRepeated, index => this.#node(index).isAnswering);
    for (let i = before; i < this.#changed.length; i++) {
      const { node_index, lease } = this.#changed[i]!;
      if (lease === 'expired') this.#speeds.leave(node_index);
    }
  }

  /** Sends a batch again. If another process handed it out, that process must learn of it before it takes the batch back. */
  #repeat(batch: Batch): Batch {
    if (this.#own && !this.#own.has(batch) && !this.#unsaved.includes(batch) && !batch.repeated) {
      batch.repeated = true;
      this.#changed.push(batch);
    }
    return batch;
  }

  #adopt({ queue, answering }: NonNullable<Shared['before']>): void {
    const find = (batch: Batch) => {
      const own = this.#bySeq.get(batch.seq);
      return own && isSameHandOut(own, batch) ? own : null;
    };
    for (const [index, node] of queue.#nodes) {
      const ofNode = answering.filter(({ batch }) => batch.node_index === index);
      this.#node(index).adopt(node, ofNode, find);
    }
    for (const batch of queue.#own ?? []) {
      const own = find(batch);
      if (own) this.#own!.add(own);
    }
    this.#leases.adopt(queue.#leases, isSameHandOut);
  }

  #newBatch(request: Pull, last: Batch | undefined, replay: Replay | null, now: number): Batch {
    const batch: Batch = {
      seq: this.#nextSeq,
      node_index: request.node_index,
      // One string for all batches of a run: thousands of queues are in memory.
      run: last?.run === request.run ? last.run : request.run,
      batch_uuid: request.batch_uuid,
      handed_at: now,
      files: replay?.files ?? [],
      isFirstRequest: request.isFirstRequest,
      isReplay: replay !== null,
      build_subset_id: replay && request.recordedRunId,
      // Named here, so that setting it later allocates nothing.
      decision: null,
      delivered: false,
    };
    if (!replay) this.#fill(batch);
    if (request.acknowledges) batch.acknowledges = true;
    if (request.heartbeats) batch.heartbeats = true;
    if (request.runs_before !== undefined) batch.runs_before = request.runs_before;
    if (replay?.cases && this.text.hasRoomFor(replay.cases)) batch.cases = replay.cases;
    return batch;
  }

  /** Takes the files of a new batch, unless none is left. */
  #fill(batch: Batch): void {
    const remaining = this.#remaining;
    const { count, weight } = remaining;
    if (count === 0) {
      if (this.#retrying.has(batch.node_index)) this.#retry(batch);
      return;
    }
    const situation = this.#speeds.situationOf(batch.node_index, count, weight, batch.handed_at);
    const { slowdown, hidden } = situation;
    const isFirst = remaining.hasFirst && !wouldDelay(remaining.slowest, situation);
    const target = isFirst ? firstBatchWeight(situation) : Math.min(situation.most, batchWeight(situation, this.parameters));
    // The copy has no spare capacity.
    batch.files = remaining[isFirst ? 'takeFirst' : 'take'](target / slowdown, hidden / slowdown).slice();
    batch.decision = keepDecision(situation, target);
  }

  /** Makes a batch the retry of a file that failed, if there is one for its node. */
  #retry(batch: Batch): void {
    const { node_index: node } = batch;
    const file = this.#retries.nextFor(node, !this.#leases.hasStandby(node, this.#retrying));
    if (file === null) return;
    batch.files = [file];
    batch.retry = true;
  }

  /** Adds a batch that is handed out now, or was before the queue was read back. */
  #add(batch: Batch, isReadBack = false): void {
    const { node_index, files, handed_at } = batch;
    this.#node(node_index).add(batch);
    this.#filesHanded += files.length;
    this.text.add(batch);
    const weight = this.#weightOf(batch);
    this.#speeds.recordBatch(node_index, files.length, weight, handed_at, this.#isFirst(batch));
    this.#lease(batch, weight, isReadBack);
    this.#bySeq.set(batch.seq, batch);
    this.#nextSeq = Math.max(this.#nextSeq, batch.seq + 1);
  }

  /** Leases a batch for what its files were to take; one that the planner did not size, by the newest that it did. */
  #lease(batch: Batch, weight: number, isReadBack: boolean): void {
    this.#leases.add(batch, weight, batch.decision ?? this.newestDecision, isReadBack);
  }

  #restore(batches: readonly Batch[]): void {
    const taken = takenFiles(batches, this.weights.length);
    taken.forEach((isTaken, file) => {
      if (isTaken === 1) this.#remaining.remove(file);
    });
    this.#remaining.reclaim(this.#first.filter(file => taken[file] === 1));
    for (const batch of batches) {
      const { times } = batch;
      // They are read from the store where they are needed.
      batch.times = undefined;
      if (batch.files.length > 0) {
        this.#speeds.recordPull(batch.node_index, batch.isFirstRequest, batch.handed_at);
        this.#add(batch, true);
        this.#retries.note(batch, times);
        if (batch.cancelled_at !== undefined || batch.lease === 'expired') this.#speeds.leave(batch.node_index);
        continue;
      }
      const node = this.#node(batch.node_index);
      node.markEmptyHanded(batch);
      node.recordEmptyStart(batch.handed_at);
      this.#nextSeq = Math.max(this.#nextSeq, batch.seq + 1);
    }
    for (const node of this.#nodes.values()) node.markUnconfirmed();
    // These batches were observed before the queue was read back.
    this.#speeds.estimate.takeObserved();
  }

  /** Tells whether a batch has only files that go first. */
  #isFirst({ files, isReplay }: Batch): boolean {
    return this.#first.length > 0 && !isReplay && files.every(file => this.#first.includes(file));
  }

  #weightOf({ files }: Batch): number {
    return files.reduce((sum, file) => sum + this.weights[file]!, 0);
  }

  #node(index: number): Node {
    let node = this.#nodes.get(index);
    if (!node) this.#nodes.set(index, (node = new Node()));
    return node;
  }
}
