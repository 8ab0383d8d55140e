import type { ExpectedOutcome } from '../forecasting/forecast.js';
import { lowerBound } from './bound.js';
import { refine, type Split } from './refine.js';

export interface Packing extends ExpectedOutcome {
  /** The indices of the files of each node, slowest first. Without enough files, some nodes have none. */
  nodes: number[][];
}

/**
 * Splits files over nodes so that the makespan is small: longest first, then refined while it is above the lower bound.
 * The same list always gives the same split.
 *
 * @param weights whole numbers (see weight.ts) by file, in descending order
 */
export function pack(weights: Float64Array, nodes: number): Packing {
  const bound = lowerBound(weights, nodes);
  const split = longestFirst(weights, nodes);
  refine(weights, split, bound);
  const { loads } = split;
  const makespan = loads.reduce((max, load) => Math.max(max, load), 0);
  const isBoundByFile = makespan === weights[0] && loads.some(load => load < makespan);
  return { nodes: split.nodes, makespan, lowerBound: bound, isBoundByFile };
}

/**
 * Longest processing time first (Graham 1969): gives each file to the node with the least load, and to the lowest index among equals.
 *
 * @param weights in descending order
 */
export function longestFirst(weights: Float64Array, nodeTotal: number): Split {
  const nodes = Array.from({ length: nodeTotal }, (): number[] => []);
  const loads = new Float64Array(nodeTotal);
  // A binary heap of nodes, the least loaded on top. All are empty, so any order is a heap.
  const heap = Uint32Array.from(nodes.keys());
  for (let file = 0; file < weights.length; file++) {
    const node = heap[0]!;
    nodes[node]!.push(file);
    loads[node]! += weights[file]!;
    let at = 0;
    for (let child = 1; child < nodeTotal; child = 2 * at + 1) {
      if (child + 1 < nodeTotal && hasLessLoad(heap[child + 1]!, heap[child]!, loads)) child += 1;
      if (!hasLessLoad(heap[child]!, node, loads)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = node;
  }
  return { nodes, loads };
}

function hasLessLoad(node: number, other: number, loads: Float64Array): boolean {
  return loads[node]! < loads[other]! || (loads[node] === loads[other] && node < other);
}
