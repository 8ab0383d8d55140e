import type { BatchSums } from './batch-cost.js';

/** The parameters that are fixed when a queue is created. */
export interface QueueParameters {
  nodeTotal: number;
  /** The configured time that a node loses between two batches, as a weight (see weight.ts). */
  pullCost: number;
  /** Most files were never measured: the predictions are guesses. */
  isGuessed: boolean;
  /** The observations of earlier queues of the project; missing: none. */
  learned?: BatchSums | null;
  /** The files that go first (see first-files.ts), in their order; missing: none. */
  first?: readonly number[];
}

/** The facts that decide the size of the batch that a node asks for. All but `batches` are weights. */
export interface PullSituation {
  /** The part of the remaining files that the node would run if all nodes finished together: more than 0. */
  share: number;
  /** The number of batches that the node was handed before. */
  batches: number;
  /** The weight of all remaining files, their hidden time included. */
  remaining: number;
  /** The time that a node loses between two batches, as estimated from the batches so far. */
  pullCost: number;
  /** The server's clock has measured a batch; null: it measures nothing, because the nodes run nothing. */
  hasMeasured: boolean | null;
}

/** The part of its share that a node gets in one batch, unless it gets less for the sake of nodes that have yet to come. */
export const SHARE_PER_BATCH = 0.6;
/** The same in a queue of guesses: until a batch was measured, and after that. */
const SHARE_PER_FIRST_GUESSED_BATCH = 0.3;
const SHARE_PER_GUESSED_BATCH = 0.55;
/** A measured batch of guesses is worth at least this many pulls. */
const LEAST_PULLS_PER_GUESSED_BATCH = 2;
/** The same in a queue whose nodes run nothing, as in a load test: they get more batches. */
const SHARE_PER_UNTIMED_BATCH = 0.15;
/** When the rest of a share is worth no more than this many pulls, the batch contains it. */
const PULLS_WORTH_SAVING = 3;
/** After this many batches a node gets its whole share: the end is near enough. */
const MAX_PARTIAL_BATCHES = 6;

/**
 * Returns the weight of a node's next batch. It is a part of the node's share, so that later batches can make up for wrong
 * predictions, or all of it when more pulls would cost more than they gain. The parts are the best ones in simulations with the
 * errors of real predictions, and the optimum is flat (`npm run bench -- planning`).
 */
export function batchWeight(
  { share, batches, remaining, pullCost, hasMeasured }: PullSituation,
  { nodeTotal, isGuessed }: Pick<QueueParameters, 'nodeTotal' | 'isGuessed'>,
): number {
  // There is no other node to finish together with.
  if (nodeTotal === 1) return remaining;
  if (isGuessed) {
    // Files that are all unknown may take so long that a pull is nothing.
    if (!hasMeasured) return share * (hasMeasured === null ? SHARE_PER_UNTIMED_BATCH : SHARE_PER_FIRST_GUESSED_BATCH);
    return Math.min(share, Math.max(SHARE_PER_GUESSED_BATCH * share, LEAST_PULLS_PER_GUESSED_BATCH * pullCost));
  }
  return isRestSmall(share, pullCost) || batches >= MAX_PARTIAL_BATCHES ? share : SHARE_PER_BATCH * share;
}

/** Tells whether more pulls for the rest of a share, after a part of it, would cost more than they gain. */
export function isRestSmall(share: number, pullCost: number): boolean {
  return share - SHARE_PER_BATCH * share < PULLS_WORTH_SAVING * pullCost;
}

/**
 * Returns when all nodes finish if they share the remaining work and finish together: the T with
 * sum of speed x max(0, T - ready) = work. Newton's method on a convex function, from above: every step drops the nodes
 * that are ready too late to help, and the step that drops none is exact.
 *
 * @param work the remaining work, more than 0
 * @param nodes how many nodes there are: the arrays may be longer
 * @param speeds the work that each node does in a unit of time
 * @param ready when each node can begin, in the same unit
 */
export function commonFinishTime(work: number, nodes: number, speeds: Float64Array, ready: Float64Array): number {
  let finishTime = Infinity;
  for (let previousCount = Infinity; ; ) {
    let count = 0;
    let speed = 0;
    let lost = 0;
    for (let node = 0; node < nodes; node++) {
      if (ready[node]! >= finishTime) continue;
      count += 1;
      speed += speeds[node]!;
      lost += speeds[node]! * ready[node]!;
    }
    // Rounding may bring a node back, or drop the last one.
    if (count === 0 || count >= previousCount) return finishTime;
    previousCount = count;
    finishTime = (work + lost) / speed;
  }
}
