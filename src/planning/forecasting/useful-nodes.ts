import { RemainingFiles } from '../batching/remaining-files.js';

/**
 * Returns the number of nodes at which all others finish with the longest file, at least 1. More nodes make nothing faster.
 * It is the number of bins of first fit, longest first, with the longest file as the capacity.
 *
 * @param weights in descending order
 */
export function usefulNodes(weights: Float64Array): number {
  // Without a known time all guesses are equal, and each file fills a node.
  if (weights[0] === weights.at(-1)) return Math.max(1, weights.length);
  const remaining = new RemainingFiles(weights);
  let nodes = 0;
  while (remaining.count > 0) {
    remaining.take(weights[0]!);
    nodes += 1;
  }
  return Math.max(1, nodes);
}
