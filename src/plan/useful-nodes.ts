import { longestFirst } from './longest-first.js';

/**
 * The least nodes with which all others end with the longest file, when the longest files are given out first: more make
 * nothing faster. At least 1.
 *
 * @param weights in descending order
 */
export function usefulNodes(weights: Float64Array): number {
  const longest = weights[0];
  if (longest === undefined) return 1;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let low = Math.ceil(total / longest);
  if (isEnough(weights, low)) return low;
  for (let high = weights.length; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if (isEnough(weights, middle)) high = middle;
    else low = middle;
  }
  return low + 1;
}

function isEnough(weights: Float64Array, nodes: number): boolean {
  return longestFirst(weights, nodes).loads.every(load => load <= weights[0]!);
}
