import type { Split } from './refine.js';

/**
 * Longest processing time first (Graham 1969): gives each file to the node with the least load, and to the lowest index among equals.
 *
 * @param weights in descending order
 */
export function longestFirst(weights: Float64Array, nodes: number): Split {
  const first = new Int32Array(nodes).fill(-1);
  const last = new Int32Array(nodes);
  const next = new Int32Array(weights.length).fill(-1);
  const loads = new Float64Array(nodes);
  // A binary heap of nodes, the least loaded on top. All are empty, so any order is a heap.
  const heap = Uint32Array.from({ length: nodes }, (_, node) => node);
  for (let file = 0; file < weights.length; file++) {
    const node = heap[0]!;
    const load = loads[node]! + weights[file]!;
    if (first[node] === -1) first[node] = file;
    else next[last[node]!] = file;
    last[node] = file;
    loads[node] = load;
    let at = 0;
    for (let child = 1; child < nodes; child = 2 * at + 1) {
      if (child + 1 < nodes && hasLessLoad(heap[child + 1]!, heap[child]!, loads)) child += 1;
      if (!hasLessLoad(heap[child]!, node, loads)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = node;
  }
  return { first, loads, next };
}

function hasLessLoad(node: number, other: number, loads: Float64Array): boolean {
  return loads[node]! < loads[other]! || (loads[node] === loads[other] && node < other);
}
