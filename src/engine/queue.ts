import { batchWeight, type QueueOutlook } from '../plan/queue/batch.js';
import { Untaken } from '../plan/queue/untaken.js';
import { type Batch, isGivenUp, type Pull } from './batch.js';
import { type Lease, Leases } from './leases.js';
import { Pace } from './pace.js';

interface Node {
  /** In the order of handing, over all runs. */
  readonly batches: Batch[];
  /** Its pulls that are being answered. */
  readonly answering: { batch: Batch; hasLeft: () => boolean }[];
  readonly byUuid: Map<string, Batch>;
  /** Runs whose last pull left them with nothing: sent again, it has nothing to repeat. */
  readonly emptyHanded: Set<string>;
}

/**
 * One queue: what is left and what every node was handed. Pure: the caller journals what changed.
 * The law: every file is handed out at least once, and exactly once unless a request or a node failed.
 */
export class Queue {
  readonly #untaken: Untaken;
  readonly #pace: Pace;
  readonly #nodes = new Map<number, Node>();
  readonly #bySeq = new Map<number, Batch>();
  /** How many pulls are being answered. */
  #answers = 0;
  /** Null: nodes may be silent for ever. */
  readonly #leases: Leases | null;
  /** What is to be journaled beside what a pull returns. */
  #changed: Batch[] = [];
  /** Batches read back from the journal that may not have reached their node. */
  readonly #doubtful = new Set<Batch>();
  #nextSeq = 0;

  /**
   * @param weights predictions by file (see weight.ts), in descending order
   * @param batches those handed out before, when the queue is read back
   */
  constructor(
    readonly weights: Float64Array,
    readonly outlook: QueueOutlook,
    batches: Iterable<Batch> = [],
    lease: Lease | null = null,
  ) {
    this.#leases = lease && new Leases(lease);
    this.#untaken = new Untaken(weights);
    this.#pace = new Pace(outlook);
    for (const batch of batches) {
      // What was handed out again is not taken by that: it may have been put back before.
      if (!batch.again && !isGivenUp(batch)) for (const file of batch.files) this.#untaken.remove(file);
      this.#pace.asks(batch.node_index, batch.starts, batch.handed_at);
      this.#add(batch);
    }
    for (const { batches } of this.#nodes.values()) {
      for (const batch of batches) {
        const last = batches.findLast(({ run }) => run === batch.run) === batch;
        if (last && !batch.delivered && batch.batch_uuid === null) this.#doubtful.add(batch);
      }
    }
  }

  /** Whether answers with batches are on their way. */
  get isAnswering(): boolean {
    return this.#answers > 0;
  }

  get batchCount(): number {
    return this.#bySeq.size;
  }

  get filesLeft(): number {
    return this.#untaken.count;
  }

  /** The node's next batch, `isNew` when it is to be journaled; null at the end. The caller reports `delivered` or `undelivered`. */
  pull(request: Pull, now: number): { batch: Batch; isNew: boolean } | null {
    const node = this.#node(request.node_index);
    const before = this.#handedBefore(node, request);
    this.#hear(request, before !== null);
    if (before) return { batch: this.#answer(node, before, request), isNew: false };

    const all = request.wantsLastSplit ? [...new Set(node.batches.flatMap(batch => batch.files))] : [];
    const again = all.length > 0;
    const last = node.batches.at(-1);
    if (again && last?.again && last.run === request.run && last.build_subset_id === request.recordedSubset) {
      // Nothing came in between: the same batch serves, under whatever uuid.
      return { batch: this.#answer(node, last, request), isNew: false };
    }
    this.#pace.asks(request.node_index, request.starts, now);
    // A copy has no room for more.
    const files = again ? all : this.#takeFor(request.node_index, now).slice();
    if (files.length === 0) {
      node.emptyHanded.add(request.run);
      return null;
    }
    const batch: Batch = {
      v: 1,
      seq: this.#nextSeq,
      node_index: request.node_index,
      // One text for all batches of a run: queues are kept in memory by the thousands.
      run: last?.run === request.run ? last.run : request.run,
      batch_uuid: request.batch_uuid,
      handed_at: now,
      files,
      starts: request.starts,
      again,
      build_subset_id: again ? request.recordedSubset : null,
      delivered: false,
    };
    node.emptyHanded.delete(request.run);
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
    this.#doubtful.delete(batch);
    return renew ? batch : null;
  }

  /**
   * The node left before the answer was written: its files go back to the front. False, and nothing done,
   * when another answer brings or brought the same batch to the node.
   */
  undelivered(seq: number): boolean {
    const batch = this.#bySeq.get(seq);
    if (!batch || this.#endAnswer(batch, false) > 0 || batch.delivered) return false;
    const { batches, byUuid, emptyHanded } = this.#node(batch.node_index);
    batches.splice(batches.lastIndexOf(batch), 1);
    if (batch.batch_uuid !== null) byUuid.delete(batch.batch_uuid);
    emptyHanded.add(batch.run);
    this.#bySeq.delete(seq);
    this.#pace.missed(batch.node_index);
    if (this.#leases?.of(batch.node_index) === batch) this.#leases.end(batch.node_index);
    if (!batch.again && !isGivenUp(batch)) this.#untaken.putBack(batch.files);
    return true;
  }

  /** Batches that a pull changed besides: their nodes were silent for too long, or came back. */
  takeChanged(): readonly Batch[] {
    const changed = this.#changed;
    if (changed.length > 0) this.#changed = [];
    return changed;
  }

  /** A node begins anew, and takes nothing yet: what it had is not done. */
  begins(node: number): void {
    const own = this.#leases?.of(node);
    if (own) this.#giveUp(own, 'restarted');
    this.#leases?.end(node);
  }

  /** A node asks: it is there, and has done what it had unless it asks for that again. Others may be silent for too long. */
  #hear({ node_index, starts, wantsLastSplit }: Pull, isRepeated: boolean): void {
    const leases = this.#leases;
    if (!leases) return;
    leases.hear(node_index);
    const own = leases.of(node_index);
    if (own && !isRepeated && starts && !wantsLastSplit) this.#giveUp(own, 'restarted');
    else if (own?.lease === 'lost' && !isRepeated && !wantsLastSplit) {
      // Whoever asks for more has run it; whoever asks for it again may never get it.
      own.lease = 'late';
      this.#untaken.takeBack(own.files);
      this.#changed.push(own);
    }
    if (own && !isRepeated) leases.end(node_index);
    for (const batch of leases.takeOverdue(node => this.#node(node).answering.length > 0)) this.#giveUp(batch, 'lost');
    if (own && !isRepeated && own.lease === undefined && this.#untaken.left === 0) {
      // No further batch will tell that this one is done.
      own.lease = 'ended';
      this.#changed.push(own);
    }
  }

  /** What a node had goes to others: it is silent, or began anew. */
  #giveUp(batch: Batch, lease: 'lost' | 'restarted'): void {
    if (batch.again || batch.lease !== undefined) return;
    batch.lease = lease;
    this.#untaken.putBack(lease === 'lost' ? this.#leases!.handOn(batch) : batch.files);
    this.#changed.push(batch);
  }

  /** The batch that this request, sent again, was answered with before. */
  #handedBefore({ batches, answering, byUuid, emptyHanded }: Node, { batch_uuid, run, isRetry, wantsLastSplit }: Pull): Batch | null {
    if (batch_uuid !== null) return byUuid.get(batch_uuid) ?? null;
    const last = batches.findLast(batch => batch.run === run);
    // A first request that wants the last split gets all that the node had, the last batch included.
    if (!last || (wantsLastSplit && !last.again)) return null;
    if (this.#doubtful.delete(last)) return last;
    // The node closed the connection on which its last answer would come, and asks again on another.
    const answers = answering.filter(({ batch }) => batch === last);
    if (answers.length > 0 && answers.every(({ hasLeft }) => hasLeft())) return last;
    return isRetry && !emptyHanded.has(run) ? last : null;
  }

  #takeFor(node: number, now: number): number[] {
    const { left } = this.#untaken;
    return left === 0 ? [] : this.#untaken.take(batchWeight(this.#pace.claim(node, left, now), this.outlook));
  }

  /** A batch that was handed out, now or before the queue was read back. */
  #add(batch: Batch): void {
    const { node_index, files, handed_at, batch_uuid } = batch;
    const { batches, byUuid } = this.#node(node_index);
    batches.push(batch);
    if (batch_uuid !== null) byUuid.set(batch_uuid, batch);
    const weight = files.reduce((sum, file) => sum + this.weights[file]!, 0);
    this.#pace.gets(node_index, weight, handed_at);
    this.#leases?.add(batch, weight);
    this.#bySeq.set(batch.seq, batch);
    this.#nextSeq = Math.max(this.#nextSeq, batch.seq + 1);
  }

  #node(index: number): Node {
    let node = this.#nodes.get(index);
    if (!node) this.#nodes.set(index, (node = { batches: [], answering: [], byUuid: new Map(), emptyHanded: new Set() }));
    return node;
  }

  #answer({ answering }: Node, batch: Batch, { hasLeft }: Pull): Batch {
    this.#answers += 1;
    answering.push({ batch, hasLeft });
    return batch;
  }

  /** One answer with the batch was written, or its client left. Returns how many others still bring it. */
  #endAnswer(batch: Batch, written: boolean): number {
    const { answering } = this.#node(batch.node_index);
    const answers = answering.filter(answer => answer.batch === batch);
    const ended = answers.find(({ hasLeft }) => hasLeft() !== written) ?? answers[0];
    if (!ended) return 0;
    answering.splice(answering.indexOf(ended), 1);
    this.#answers -= 1;
    return answers.length - 1;
  }
}
