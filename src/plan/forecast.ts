import { toSeconds } from './weight.js';

/** What a split or queue is expected to come to: kept with it. Times are seconds. */
export interface Forecast {
  /** Until the last node is done. */
  makespan: number;
  /** No way to give whole files to these nodes is known to be faster than this: it is proved. */
  lower_bound: number;
  /** makespan / lower_bound, the proved gap; 1 when there is none. */
  ratio: number;
  /** Files never measured, planned with a guess. */
  unknown_files: number;
  /** The files that alone take longer than a node's fair share, slowest first: splitting these makes the build faster. */
  binding_files: { path: string; seconds: number }[];
  /** Nodes beyond these make nothing faster, unless the longest file is split. */
  useful_nodes: number;
}

export interface PlannedFile {
  path: string;
  /** See weight.ts. */
  weight: number;
  /** Null: never measured. */
  time_execution: number | null;
}

/** Binding files that are named; more are as good as all. */
const FILES_NAMED = 10;

/**
 * @param files in descending order of weight
 * @param makespan a weight, as is `lowerBound`
 */
export function forecast(files: readonly PlannedFile[], nodes: number, makespan: number, lowerBound: number): Forecast {
  const total = files.reduce((sum, { weight }) => sum + weight, 0);
  const longest = files[0]?.weight ?? 0;
  return {
    makespan: toSeconds(makespan),
    lower_bound: toSeconds(lowerBound),
    ratio: lowerBound === 0 ? 1 : makespan / lowerBound,
    unknown_files: files.filter(({ time_execution }) => time_execution === null).length,
    binding_files: files
      .slice(0, FILES_NAMED)
      .filter(({ weight }) => weight > total / nodes)
      .map(({ path, weight }) => ({ path, seconds: toSeconds(weight) })),
    useful_nodes: longest === 0 ? 1 : Math.ceil(total / longest),
  };
}
