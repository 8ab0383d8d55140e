/** What is known of a queue from its start. Weights: see weight.ts. */
export interface QueueOutlook {
  nodeTotal: number;
  /** What a node loses between two batches: the setting. */
  pullCost: number;
  /** Most files were never measured: the predictions say little. */
  isGuessed: boolean;
}

/** What a node that asks for a batch stands for. */
export interface Claim {
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
const PART = 0.6;
const GUESSED_PART = 0.15;
/** A rest of a share that is worth no more than so many pulls is given at once. */
const PULLS_SAVED = 3;
/** From then on a node gets its share at once: it has come near enough to the end. */
const BATCHES_IN_PARTS = 6;

/**
 * The weight of a node's next batch: a part of its share, so that what turns out slower or faster than predicted is
 * evened out by the batches to come; all of it when more pulls would cost more than they even out. The parts are the
 * best of those simulated with the errors of real predictions, and the optimum is flat (`npm run bench -- planning`).
 */
export function batchWeight(
  { share, batches, left, pullCost }: Claim,
  { nodeTotal, isGuessed }: Pick<QueueOutlook, 'nodeTotal' | 'isGuessed'>,
): number {
  // Nobody else is to be evened out with.
  if (nodeTotal === 1) return left;
  if (isGuessed) return Math.max(GUESSED_PART * share, Math.min(pullCost, left / (4 * nodeTotal)));
  const part = PART * share;
  return share - part < PULLS_SAVED * pullCost || batches >= BATCHES_IN_PARTS ? share : part;
}
