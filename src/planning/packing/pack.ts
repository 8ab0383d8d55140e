import type { ExpectedOutcome } from '../forecasting/forecast.js';
import { lowerBound } from './bound.js';
import { longestFirst } from './longest-first.js';
import { refine } from './refine.js';

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
  const { first, next, loads } = split;
  const makespan = loads.reduce((max, load) => Math.max(max, load), 0);
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
