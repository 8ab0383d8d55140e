import { RemainingFiles } from '../batching/remaining-files.js';

/**
 * The nodes with which all others are done when the longest file is: more make nothing faster. As many as first fit of the
 * longest files needs when no node may take longer than that file; at least 1.
 *
 * @param weights in descending order
 */
export function usefulNodes(weights: Float64Array): number {
  const untaken = new RemainingFiles(weights);
  let nodes = 0;
  while (untaken.count > 0) {
    untaken.take(weights[0]!);
    nodes += 1;
  }
  return Math.max(1, nodes);
}
