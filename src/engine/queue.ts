import { batchWeight, type QueueOutlook } from '../plan/queue/batch.js';
import { Untaken } from '../plan/queue/untaken.js';
import { Pace } from './pace.js';

/** What a node was handed at one pull, as it is journaled. */
export interface Batch {
  v: 1;
  seq: number;
  node_index: number;
  /** Digest of the node_build_id that pulled: tells the runs of a node apart. */
  run: string;
  batch_uuid: string | null;
  handed_at: number;
  /** Indices into the queue's test files. */
  files: number[];
  /** The node's first request: what it had before is nothing that it works on now. */
  starts: boolean;
  /** A fixed split: files that the node had in an earlier run, handed to it again. */
  again: boolean;
  /** The recorded subset that a fixed split is based on. */
  build_subset_id: string | null;
  /** Whether the answer is known to have been written; of a batch with a uuid the store may not know. */
  delivered: boolean;
}

export interface Pull {
  node_index: number;
  run: string;
  batch_uuid: string | null;
  /** The client says that it sent this request before. */
  isRetry: boolean;
  /** The node's first request (can_initialize_queue). */
  starts: boolean;
  /** It starts, and wants the last split again (fixed_queue_split). */
  wantsLastSplit: boolean;
  /** The node's recorded subset since this queue began. */
  recordedSubset: string | null;
  /** Whether the client has closed its connection since it asked. */
  hasLeft: () => boolean;
}

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
  ) {
    this.#untaken = new Untaken(weights);
    this.#pace = new Pace(outlook);
    for (const batch of batches) {
      // What was handed out again is not taken by that: it may have been put back before.
      if (!batch.again) for (const file of batch.files) this.#untaken.remove(file);
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

  /**
   * The node's next batch, `isNew` when it is to be journaled; null at the end of the queue.
   * The caller reports what became of the answer: `delivered` or `undelivered`.
   */
  pull(request: Pull, now: number): { batch: Batch; isNew: boolean } | null {
    const node = this.#node(request.node_index);
    const before = this.#handedBefore(node, request);
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
    if (!batch.again) this.#untaken.putBack(batch.files);
    return true;
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
