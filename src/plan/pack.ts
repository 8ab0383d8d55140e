import { refine, type Split } from './refine.js';

export interface Packing {
  /** Indices of the files of each node, slowest first; a node beyond the files gets none. */
  nodes: number[][];
  /** The load of the fullest node. */
  makespan: number;
  /** No split of whole files has a smaller makespan. */
  lowerBound: number;
  /**
   * Whether the longest file alone decides: the other nodes wait for it, and neither another split nor more nodes would
   * end sooner, only a shorter file. Not so when all nodes end with it.
   */
  isBoundByFile: boolean;
}

/**
 * Splits files over nodes so that the fullest node has as little as possible: longest processing time first
 * (Graham 1969), refined as long as it is above the lower bound. The same list always gives the same split.
 *
 * @param weights whole numbers (see weight.ts) by file, in descending order
 */
export function pack(weights: Float64Array, nodes: number): Packing {
  const bound = lowerBound(weights, nodes);
  const split = longestFirst(weights, nodes);
  refine(weights, split, bound);
  const { first, next, loads } = split;
  const makespan = loads.reduce((most, load) => Math.max(most, load), 0);
  return {
    nodes: Array.from(first, file => {
      const files: number[] = [];
      for (; file !== -1; file = next[file]!) files.push(file);
      return files;
    }),
    makespan,
    lowerBound: bound,
    isBoundByFile: makespan === weights[0] && loads.some(load => load < makespan),
  };
}

/**
 * The greatest of the average load, rounded up, and what some nodes must have at least: of the q M + r longest files on
 * M nodes (1 <= r <= M), some r nodes have r (q + 1) files or more, at best the shortest of them, and one of these nodes has the
 * average (Haouari, Gharbi and Jemmali 2006). With r = 1 that is the longest file for q = 0, and beyond it
 * the q + 1 shortest of the q M + 1 longest.
 */
export function lowerBound(weights: Float64Array, nodes: number): number {
  const sums = new Float64Array(weights.length + 1);
  for (let i = 0; i < weights.length; i++) sums[i + 1] = sums[i]! + weights[i]!;
  let bound = ceilingOfRatio(sums[weights.length]!, nodes);
  for (let start = 0; start < weights.length; start += nodes) {
    const q = start / nodes;
    const most = Math.min(nodes, weights.length - start);
    for (let r = 1; r <= most; r++) {
      const least = sums[start + r]! - sums[q * (nodes - r)]!;
      if (least > bound * r) bound = ceilingOfRatio(least, r);
    }
  }
  return bound;
}

/** Exact, which a quotient of large numbers is not. */
function ceilingOfRatio(whole: number, divisor: number): number {
  const rest = whole % divisor;
  return (whole - rest) / divisor + Number(rest > 0);
}

/** Gives each file to the emptiest node, of equally empty ones the lowest. */
function longestFirst(weights: Float64Array, nodes: number): Split {
  const first = new Int32Array(nodes).fill(-1);
  const last = new Int32Array(nodes);
  const next = new Int32Array(weights.length).fill(-1);
  const loads = new Float64Array(nodes);
  // A binary heap of nodes, the emptiest on top. All are empty: any order is a heap.
  const heap = Uint32Array.from({ length: nodes }, (_, node) => node);
  for (let file = 0; file < weights.length; file++) {
    const node = heap[0]!;
    const load = loads[node]! + weights[file]!;
    if (first[node] === -1) first[node] = file;
    else next[last[node]!] = file;
    last[node] = file;
    loads[node] = load;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= nodes) break;
      if (child + 1 < nodes && isBefore(heap[child + 1]!, loads[heap[child + 1]!]!, heap[child]!, loads[heap[child]!]!)) child += 1;
      const below = heap[child]!;
      if (!isBefore(below, loads[below]!, node, load)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = node;
  }
  return { first, loads, next };
}

function isBefore(a: number, loadA: number, b: number, loadB: number): boolean {
  return loadA < loadB || (loadA === loadB && a < b);
}
