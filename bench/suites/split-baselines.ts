import { createHash } from 'node:crypto';

/** A test file and its time as a whole number (see src/server/planning/weight.ts). */
export interface WeightedFile {
  path: string;
  weight: number;
}

/** A split algorithm: returns the load of each node. The files are in listed order. */
export type Split = (files: readonly WeightedFile[], nodes: number) => number[];

/** Each file to the next node in rotation. */
export const roundRobin: Split = (files, nodes) => assign(files, nodes, (_, i) => i % nodes);

/** Each file to a node by a hash of its path. */
export const hashedPath: Split = (files, nodes) =>
  assign(files, nodes, ({ path }) => createHash('md5').update(path).digest().readUInt32LE() % nodes);

/** The list cut where the sum of times exceeds the next node's share. */
export const durationChunks: Split = (files, nodes) => {
  const total = files.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  return assign(files, nodes, ({ weight }) => {
    const node = Math.min(nodes - 1, Math.floor((before * nodes) / total));
    before += weight;
    return node;
  });
};

/** Longest processing time first, each to the least loaded node (Graham 1969). */
export const longestFirst: Split = (files, nodes) => {
  const loads = Array<number>(nodes).fill(0);
  for (const weight of descending(files)) loads[leastLoaded(loads)]! += weight;
  return loads;
};

/** First fit into nodes of the least capacity that fits all files, found by bisection (Coffman, Garey and Johnson 1978). */
export const multifit: Split = (files, nodes) => {
  const weights = descending(files);
  let best = longestFirst(files, nodes);
  let low = Math.max(weights[0] ?? 0, weights.reduce((sum, weight) => sum + weight, 0) / nodes);
  let high = Math.max(...best);
  for (let step = 0; step < 20; step++) {
    const capacity = (low + high) / 2;
    const loads = firstFit(weights, nodes, capacity);
    if (!loads) low = capacity;
    else {
      high = capacity;
      if (Math.max(...loads) < Math.max(...best)) best = loads;
    }
  }
  return best;
};

/** Combines the partial splits with the largest differences, until one is left (Karmarkar and Karp 1982). */
export const differencing: Split = (files, nodes) => {
  // The partial splits, ascending by the difference of their most and least loaded nodes.
  const partial = descending(files)
    .reverse()
    .map(weight => [weight, ...Array<number>(nodes - 1).fill(0)]);
  const difference = (loads: readonly number[]) => loads[0]! - loads[nodes - 1]!;
  while (partial.length > 1) {
    const [one, other] = [partial.pop()!, partial.pop()!];
    const both = one.map((load, node) => load + other[nodes - 1 - node]!).sort((a, b) => b - a);
    let [from, to] = [0, partial.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (difference(partial[middle]!) < difference(both)) from = middle + 1;
      else to = middle;
    }
    partial.splice(from, 0, both);
  }
  return partial[0] ?? Array<number>(nodes).fill(0);
};

function assign(files: readonly WeightedFile[], nodes: number, nodeOf: (file: WeightedFile, index: number) => number): number[] {
  const loads = Array<number>(nodes).fill(0);
  for (const [i, file] of files.entries()) loads[nodeOf(file, i)]! += file.weight;
  return loads;
}

function descending(files: readonly WeightedFile[]): number[] {
  return files.map(({ weight }) => weight).sort((a, b) => b - a);
}

function leastLoaded(loads: readonly number[]): number {
  let node = 0;
  for (let other = 1; other < loads.length; other++) if (loads[other]! < loads[node]!) node = other;
  return node;
}

function firstFit(weights: readonly number[], nodes: number, capacity: number): number[] | null {
  const loads = Array<number>(nodes).fill(0);
  for (const weight of weights) {
    const node = loads.findIndex(load => load + weight <= capacity);
    if (node === -1) return null;
    loads[node]! += weight;
  }
  return loads;
}
