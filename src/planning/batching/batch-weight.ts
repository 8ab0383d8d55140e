/** What is known of a queue from its start. Weights: see weight.ts. */
export interface QueueParameters {
  nodeTotal: number;
  /** What a node loses between two batches: the setting. */
  pullCost: number;
  /** Most files were never measured: the predictions say little. */
  isGuessed: boolean;
}

/** What a node that asks for a batch stands for. */
export interface PullSituation {
  /** What the node would do of the rest if all nodes finished together: more than 0. */
  share: number;
  /** Batches that the node was handed before. */
  batches: number;
  /** What all nodes have to do of the rest. */
  left: number;
  /** What a node loses between two batches, as far as batches told. */
  pullCost: number;
}

/** Of a share, what a node gets at once. */
const SHARE_PER_BATCH = 0.6;
const SHARE_PER_GUESSED_BATCH = 0.15;
/** A rest of a share that is worth no more than so many pulls is given at once. */
const MIN_PULLS_PER_BATCH = 3;
/** From then on a node gets its share at once: it has come near enough to the end. */
const MAX_PARTIAL_BATCHES = 6;

/**
 * The weight of a node's next batch: a part of its share, so that what turns out slower or faster than predicted is
 * evened out by the batches to come; all of it when more pulls would cost more than they even out. The parts are the
 * best of those simulated with the errors of real predictions, and the optimum is flat (`npm run bench -- planning`).
 */
export function batchWeight(
  { share, batches, left, pullCost }: PullSituation,
  { nodeTotal, isGuessed }: Pick<QueueParameters, 'nodeTotal' | 'isGuessed'>,
): number {
  // Nobody else is to be evened out with.
  if (nodeTotal === 1) return left;
  if (isGuessed) return Math.max(SHARE_PER_GUESSED_BATCH * share, Math.min(pullCost, left / (4 * nodeTotal)));
  const part = SHARE_PER_BATCH * share;
  return share - part < MIN_PULLS_PER_BATCH * pullCost || batches >= MAX_PARTIAL_BATCHES ? share : part;
}
