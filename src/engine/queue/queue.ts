import { batchWeight, type QueueParameters } from '../../planning/batching/batch-weight.js';
import { RemainingFiles } from '../../planning/batching/remaining-files.js';
import { type Batch, hasSameFiles, isRequeued, type Pull, takenFiles } from './batch.js';
import { BatchText } from './batch-text.js';
import type { Failed } from './failed.js';
import { type LeasePolicy, Leases } from './leases.js';
import { Node } from './node.js';
import { NodeSpeeds } from './node-speeds.js';

/**
 * One queue: what is left and what every node was handed. Pure: the caller journals what changed.
 * The law: every file is handed out at least once, and exactly once unless a request or a node failed.
 */
export class Queue {
  readonly #remaining: RemainingFiles;
  readonly #speeds: NodeSpeeds;
  readonly #nodes = new Map<number, Node>();
  readonly #bySeq = new Map<number, Batch>();
  /** How many pulls are being answered. */
  #answers = 0;
  /** Null: nodes may be silent for ever. */
  readonly #leases: Leases | null;
  /** What is to be journaled beside what a pull returns. */
  #changed: Batch[] = [];
  #nextSeq = 0;
  #filesHanded = 0;
  /** Text from clients that its batches keep. */
  readonly text = new BatchText();

  /**
   * @param weights predictions by file (see weight.ts), in descending order
   * @param batches those handed out before, when the queue is read back
   */
  constructor(
    readonly weights: Float64Array,
    readonly outlook: QueueParameters,
    batches: Iterable<Batch> = [],
    lease: LeasePolicy | null = null,
  ) {
    this.#leases = lease && new Leases(lease);
    this.#remaining = new RemainingFiles(weights);
    this.#speeds = new NodeSpeeds(outlook);
    const handed = [...batches];
    const taken = handed.length === 0 ? [] : takenFiles(handed, weights.length);
    for (let file = 0; file < taken.length; file++) if (taken[file] === 1) this.#remaining.remove(file);
    for (const batch of handed) {
      if (batch.files.length === 0) {
        this.#node(batch.node_index).markEmptyHanded(batch);
        this.#node(batch.node_index).shouldRecordEmptyStart(batch.handed_at);
        this.#nextSeq = Math.max(this.#nextSeq, batch.seq + 1);
        continue;
      }
      this.#speeds.recordPull(batch.node_index, batch.isFirstRequest, batch.handed_at);
      this.#add(batch);
    }
    for (const node of this.#nodes.values()) node.markUnconfirmed();
  }

  /** Whether answers with batches are on their way. */
  get isAnswering(): boolean {
    return this.#answers > 0;
  }

  get batchCount(): number {
    return this.#bySeq.size;
  }

  /** Files of all batches, over and over. */
  get filesHanded(): number {
    return this.#filesHanded;
  }

  get filesLeft(): number {
    return this.#remaining.count;
  }

  /** The node's next batch, `isNew` when it is to be journaled; null at the end. The caller reports `delivered` or `undelivered`. */
  pull(request: Pull, now: number): { batch: Batch; isNew: boolean } | null {
    const node = this.#node(request.node_index);
    const before = node.repeatedBatch(request);
    this.#heartbeat(request, before !== null);
    if (before) return { batch: this.#answer(node, before, request), isNew: false };

    const all = node.replayedFiles(request);
    const isReplay = all.files.length > 0;
    const last = node.batches.at(-1);
    if (
      isReplay &&
      last?.isReplay &&
      last.build_subset_id === request.recordedSubset &&
      (last.run === request.run || hasSameFiles(last, request, all.files))
    ) {
      // Nothing came in between: the same batch serves, under whatever uuid.
      return { batch: this.#answer(node, last, request), isNew: false };
    }
    this.#speeds.recordPull(request.node_index, request.isFirstRequest, now);
    // A copy has no room for more.
    const files = isReplay ? all.files : this.#takeFor(request.node_index, now).slice();
    const batch: Batch = {
      seq: this.#nextSeq,
      node_index: request.node_index,
      // One text for all batches of a run: queues are kept in memory by the thousands.
      run: last?.run === request.run ? last.run : request.run,
      batch_uuid: request.batch_uuid,
      handed_at: now,
      files,
      isFirstRequest: request.isFirstRequest,
      isReplay,
      build_subset_id: isReplay ? request.recordedSubset : null,
      ...(request.acknowledges && { acknowledges: true }),
      ...(request.runs_before !== undefined && { runs_before: request.runs_before }),
      delivered: false,
    };
    if (all.cases && this.text.hasRoomFor(all.cases)) batch.cases = all.cases;
    if (files.length === 0) {
      node.markEmptyHanded(request);
      // What it had before it may never record: that it came again, for nothing, is to be known.
      if (request.isFirstRequest && last && !request.acknowledges && node.shouldRecordEmptyStart(now)) {
        this.#nextSeq += 1;
        this.#changed.push(batch);
      }
      return null;
    }
    this.#add(batch);
    return { batch: this.#answer(node, batch, request), isNew: true };
  }

  /** The answer with the batch was written. Returns the batch when it is to be journaled again. */
  delivered(seq: number): Batch | null {
    const batch = this.#bySeq.get(seq);
    if (!batch) return null;
    this.#endAnswer(batch, true);
    const renew = !batch.delivered && batch.batch_uuid === null;
    batch.delivered = true;
    this.#node(batch.node_index).confirm(batch);
    return renew ? batch : null;
  }

  /**
   * The node left before the answer was written: its files go back to the front. False, and nothing done,
   * when another answer brings or brought the same batch to the node.
   */
  undelivered(seq: number): boolean {
    const batch = this.#bySeq.get(seq);
    if (!batch || this.#endAnswer(batch, false) > 0 || batch.delivered) return false;
    this.#node(batch.node_index).remove(batch);
    this.#bySeq.delete(seq);
    this.text.remove(batch);
    this.#speeds.discardBatch(batch.node_index);
    if (this.#leases?.batchOf(batch.node_index) === batch) {
      this.#leases.release(batch.node_index);
      // It still works on nothing else.
      const before = this.#node(batch.node_index).batches.at(-1);
      if (batch.isReplay && before) this.#leases.add(before, this.#weightOf(before));
    }
    if (!batch.isReplay && !isRequeued(batch)) this.#remaining.putBack(batch.files);
    return true;
  }

  /** Batches that a pull changed besides: their nodes were silent for too long, or came back. */
  takeChanged(): readonly Batch[] {
    const changed = this.#changed;
    if (changed.length > 0) this.#changed = [];
    return changed;
  }

  /**
   * The batch that a request acknowledges; null when it belongs to another node or is acknowledged already.
   * A restored store gives a seq twice: the batch that answered this same request is not acknowledged by it.
   */
  batchOf({ node_index, batch_uuid }: Pick<Pull, 'node_index' | 'batch_uuid'>, seq: number): Batch | null {
    const batch = this.#bySeq.get(seq);
    return batch?.node_index !== node_index || batch.batch_uuid === batch_uuid || batch.failed ? null : batch;
  }

  /** Notes that a node ran a batch, and what of it failed. Returns the batch to journal again. */
  acknowledge(pull: Pick<Pull, 'node_index' | 'batch_uuid'>, seq: number, failed: Failed): Batch | null {
    const batch = this.batchOf(pull, seq);
    return batch && this.text.addFailed(batch, failed);
  }

  /** The files that a node was handed, in all its runs. */
  filesOf(node: number): number[] {
    return this.#nodes.get(node)?.files ?? [];
  }

  /** A node begins anew, and takes nothing yet: what it had is not done. */
  restartNode(node: number): void {
    const own = this.#leases?.batchOf(node);
    if (own) this.#requeue(own, 'restarted');
    this.#leases?.release(node);
  }

  /** A node asks: it is there, and has done what it had unless it asks for that again. Others may be silent for too long. */
  #heartbeat({ node_index, isFirstRequest, wantsLastSplit, acknowledges }: Pull, isRepeated: boolean): void {
    const leases = this.#leases;
    if (!leases) return;
    // What it had it gets again.
    const resumes = wantsLastSplit || (isFirstRequest && acknowledges === true);
    leases.heartbeat(node_index);
    const own = leases.batchOf(node_index);
    if (own && !isRepeated && isFirstRequest && !resumes) this.#requeue(own, 'restarted');
    else if (own?.lease === 'expired' && !isRepeated && !resumes) {
      // Whoever asks for more has run it; whoever asks for it again may never get it.
      own.lease = 'returned';
      this.#remaining.reclaim(own.files);
      this.#changed.push(own);
    }
    if (own && !isRepeated) leases.release(node_index);
    for (const batch of leases.takeExpired(node => this.#node(node).isAnswering)) this.#requeue(batch, 'expired');
    if (own && !isRepeated && own.lease === undefined && this.#remaining.weight === 0) {
      // No further batch will tell that this one is done.
      own.lease = 'closed';
      this.#changed.push(own);
    }
  }

  /** What a node had goes to others: it is silent, or began anew. */
  #requeue(batch: Batch, lease: 'expired' | 'restarted'): void {
    if ((batch.isReplay && !batch.acknowledges) || batch.lease !== undefined) return;
    batch.lease = lease;
    this.#remaining.putBack(lease === 'expired' ? this.#leases!.reassign(batch) : batch.files);
    this.#changed.push(batch);
  }

  #takeFor(node: number, now: number): number[] {
    const { weight } = this.#remaining;
    return weight === 0 ? [] : this.#remaining.take(batchWeight(this.#speeds.situationOf(node, weight, now), this.outlook));
  }

  /** A batch that was handed out, now or before the queue was read back. */
  #add(batch: Batch): void {
    const { node_index, files, handed_at } = batch;
    this.#node(node_index).add(batch);
    this.#filesHanded += files.length;
    this.text.add(batch);
    const weight = this.#weightOf(batch);
    this.#speeds.recordBatch(node_index, weight, handed_at);
    this.#leases?.add(batch, weight);
    this.#bySeq.set(batch.seq, batch);
    this.#nextSeq = Math.max(this.#nextSeq, batch.seq + 1);
  }

  #weightOf({ files }: Batch): number {
    return files.reduce((sum, file) => sum + this.weights[file]!, 0);
  }

  #node(index: number): Node {
    let node = this.#nodes.get(index);
    if (!node) this.#nodes.set(index, (node = new Node()));
    return node;
  }

  #answer(node: Node, batch: Batch, { hasLeft }: Pull): Batch {
    this.#answers += 1;
    node.beginAnswer(batch, hasLeft);
    return batch;
  }

  /** Returns how many other answers still bring the batch. */
  #endAnswer(batch: Batch, written: boolean): number {
    const others = this.#node(batch.node_index).endAnswer(batch, written);
    if (others === null) return 0;
    this.#answers -= 1;
    return others;
  }
}
