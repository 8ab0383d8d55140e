import type { Outcome } from './scenario.js';

/** More nodes are useful when they make the build faster by this part. */
const MIN_GAIN = 0.01;

/**
 * Returns the number of nodes beyond which none that was played is faster by more than a hundredth.
 *
 * @param outcomes by number of nodes, ascending
 * @param most no more nodes can be useful (see `mostUsefulNodes`)
 */
export function usefulNodesOf(outcomes: readonly Outcome[], most: number): number {
  let best = Infinity;
  let useful = most;
  for (const { nodes, wall } of outcomes.toReversed()) {
    best = Math.min(best, wall);
    // Of the last number it is not known what more nodes would bring.
    if (wall <= best * (1 + MIN_GAIN) && nodes < outcomes.at(-1)!.nodes) useful = Math.min(useful, nodes);
  }
  return useful;
}

/** The least number of nodes that ends within these seconds; null: none does. */
export function nodesWithin(outcomes: readonly Outcome[], seconds: number): number | null {
  return outcomes.find(({ wall }) => wall <= seconds)?.nodes ?? null;
}
