import type { Estimates } from '../estimating/estimate.js';
import { toSeconds } from '../weight.js';
import { usefulNodes } from './useful-nodes.js';

/** What a plan comes to if its estimates are exact. Weights: see weight.ts. */
export interface ExpectedOutcome {
  /** When the last node is done. */
  makespan: number;
  /** No plan for whole files has a smaller makespan (see split/bound.ts): one that equals it is proved to be a best one. */
  lowerBound: number;
  /**
   * Whether the longest file alone decides: the other nodes wait for it, and neither another plan nor more nodes would
   * end sooner, only a shorter file. Not so when all nodes end with it.
   */
  isBoundByFile: boolean;
}

/** What a split or queue is expected to come to: kept with it. Times are seconds. */
export interface Forecast {
  /** Until the last node is done. */
  makespan: number;
  /** No way to give whole files to these nodes is known to be faster than this: it is proved. */
  lower_bound: number;
  /** makespan / lower_bound, the proved gap; 1 when there is none. */
  ratio: number;
  /** The longest file alone decides, and the other nodes wait for it. */
  bound_by_file: boolean;
  /** Files never measured, planned with a guess. */
  unknown_files: number;
  /** The files that alone take longer than a node's fair share, slowest first: splitting these makes the build faster. */
  binding_files: { path: string; seconds: number }[];
  /** Nodes beyond these make nothing faster, unless the longest file is split (see useful-nodes.ts). */
  useful_nodes: number;
}

/** Binding files that are named; more are as good as all. */
const FILES_NAMED = 10;

export function forecast(
  { paths, seconds, weights }: Estimates,
  nodes: number,
  { makespan, lowerBound, isBoundByFile }: ExpectedOutcome,
): Forecast {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const binding_files = Array.from(
    weights.subarray(0, FILES_NAMED).filter(weight => weight > total / nodes),
    (weight, i) => ({
      path: paths[i]!,
      seconds: toSeconds(weight),
    }),
  );
  return {
    makespan: toSeconds(makespan),
    lower_bound: toSeconds(lowerBound),
    ratio: lowerBound === 0 ? 1 : makespan / lowerBound,
    bound_by_file: isBoundByFile,
    unknown_files: unknownFiles(seconds),
    binding_files,
    useful_nodes: usefulNodes(weights),
  };
}

/** How many were never measured. */
export function unknownFiles(seconds: Float64Array): number {
  return seconds.reduce((count, time) => (Number.isNaN(time) ? count + 1 : count), 0);
}
