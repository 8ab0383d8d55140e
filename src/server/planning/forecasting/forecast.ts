import { RemainingFiles } from '../batching/remaining-files.js';
import { type Estimates, pathOf, unknownFiles } from '../estimating/estimate.js';
import { toSeconds, totalWeight } from '../weight.js';

/** The outcome of a plan if its estimates are exact. Durations are weights (see weight.ts). */
export interface ExpectedOutcome {
  /** When the last node finishes. */
  makespan: number;
  /** No plan with whole files has a smaller makespan (see packing/bound.ts). A plan that reaches it is optimal. */
  lowerBound: number;
  /**
   * The other nodes wait for the longest file: neither another plan nor more nodes would end sooner, only a shorter
   * file. False when all nodes finish with it.
   */
  isBoundByFile: boolean;
}

/** The expected outcome of a split or queue, as it is stored. Durations are seconds. */
export interface Forecast {
  /** When the last node finishes. */
  makespan: number;
  /** No plan with whole files is faster on these nodes. */
  lower_bound: number;
  /** makespan / lower_bound; 1: the plan is optimal. */
  ratio: number;
  /** The other nodes wait for the longest file. */
  bound_by_file: boolean;
  /** The number of files that were never measured, and are planned with a guess. */
  unknown_files: number;
  /** Files that take longer than a node's fair share, slowest first. Splitting them makes the build faster. */
  binding_files: { path: string; seconds: number }[];
  /** More nodes than these make nothing faster, unless the longest file is split (see `usefulNodes`). */
  useful_nodes: number;
  /** The forecast of pieces, for a queue that ends sooner with long files in pieces. */
  cutting?: CuttingForecast;
}

/** The time that pieces of long files save. */
export interface CuttingForecast {
  files: number;
  /** Seconds that the build is shorter by. */
  saves: number;
  /** False: the queue has these files whole. */
  is_done: boolean;
}

const MAX_BINDING_FILES = 10;

export function forecast(
  files: Omit<Estimates, 'basis'>,
  nodes: number,
  { makespan, lowerBound, isBoundByFile }: ExpectedOutcome,
): Forecast {
  const { seconds, weights } = files;
  const total = totalWeight(weights);
  const binding_files = Array.from(
    weights.subarray(0, MAX_BINDING_FILES).filter(weight => weight > total / nodes),
    (weight, i) => ({ path: pathOf(files, i), seconds: toSeconds(weight) }),
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

/**
 * Returns the number of nodes at which all others finish with the longest file, at least 1. More nodes make nothing faster.
 * That is the number of bins of first fit, longest first, with the longest file as the capacity.
 *
 * @param weights in descending order
 */
export function usefulNodes(weights: Float64Array): number {
  // While no file was measured, all guesses are equal, and each file fills a node.
  if (weights[0] === weights.at(-1)) return Math.max(1, weights.length);
  const remaining = new RemainingFiles(weights);
  let nodes = 0;
  while (remaining.count > 0) {
    remaining.take(weights[0]!);
    nodes += 1;
  }
  return Math.max(1, nodes);
}
