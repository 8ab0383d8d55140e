import { DEVIATIONS_PER_MAD, mean, median } from '../../planning/estimating/median.js';
import type { TimelineFiles } from '../timeline/timeline.js';
import type { NodeWork } from './executions.js';

/** Times of nodes for their files, relative to the estimates. */
export interface Slowness {
  /** By node: its duration relative to its estimates and to the other nodes, 1 as the others; null: too few files to know. */
  factors: (number | null)[];
  /** By node: the standard error of the logarithm of its factor. */
  errors: number[];
  /** By node: the factor if the node is significantly slow, else 1. */
  significant: number[];
  /** The duration of all files relative to their estimates on a usual node. */
  ratio: number;
}

/** A node must be slow by this factor. */
const MIN_FACTOR = 1.15;
/** The slowness of a node is known from this many files with an estimate, or from fewer that take this many seconds. One slow file is no slow node. */
const MIN_FILES = 5;
const MIN_FILES_OF_LONG_RUN = 3;
const LONG_RUN_SECONDS = 60;
/** Files with a shorter estimate than this part of the mean one do not count: their times are mostly those of the clock and the runner. */
const MIN_PART = 0.1;
/** The outermost values that a trimmed mean leaves out, on either side, as a part of all. */
const TRIMMED = 0.2;
/** The standard error of such a mean of normally distributed values, relative to that of the mean. */
const ERROR_OF_TRIMMED_MEAN = 1.06;

/**
 * Computes the slowness of each node. A node is slower than the others when its files took another factor of their estimates. The factor of a node is
 * the mean of the logarithms of actual over estimated duration without the outermost ones (a median would need half as many files again for the same
 * error), over that of the usual node (the lower median of all nodes). It is significant when it is at least 1.15 and so many standard errors above 1
 * that it seldom is by chance among so many nodes: 2 + sqrt(2 ln nodes). The errors come from the median absolute deviation of all files, or of its
 * own files if that is larger.
 */
export function slownessOf(nodes: readonly NodeWork[], files: TimelineFiles): Slowness {
  const logs = logRatios(nodes, files);
  const isKnown = logs.map(({ values, seconds }) => values.length >= (seconds >= LONG_RUN_SECONDS ? MIN_FILES_OF_LONG_RUN : MIN_FILES));
  const means = logs.map(({ values }) => trimmedMean(values));
  const known = means.filter((_, node) => isKnown[node]).sort((a, b) => a - b);
  const usual = known[(known.length - 1) >> 1] ?? trimmedMean(logs.flatMap(({ values }) => values));
  const deviations = logs.map(({ values }, node) => (isKnown[node] ? values.map(value => Math.abs(value - means[node]!)) : []));
  const deviation = median(deviations.flat());
  const errors = deviations.map(own => {
    return (ERROR_OF_TRIMMED_MEAN * DEVIATIONS_PER_MAD * Math.max(deviation, median(own))) / Math.sqrt(own.length);
  });
  const reference = means.findIndex((value, node) => isKnown[node] && value === usual);
  const limit = 2 + Math.sqrt(2 * Math.log(Math.max(1, known.length)));
  const factors = means.map((value, node) => (isKnown[node] ? Math.exp(value - usual) : null));
  const significant = factors.map((factor, node) => {
    if (factor === null || factor < MIN_FACTOR) return 1;
    return Math.log(factor) > limit * Math.hypot(errors[node]!, errors[reference]!) ? factor : 1;
  });
  return { factors, errors, significant, ratio: Math.exp(usual) };
}

/** By node: the logarithms of actual over estimated duration of its files, without guesses and short files, and the seconds they took. */
function logRatios(nodes: readonly NodeWork[], { estimates, is_guess }: TimelineFiles): { values: number[]; seconds: number }[] {
  const measured = estimates.map((estimate, file) => (is_guess[file] === 1 ? 0 : (estimate ?? 0)));
  const least = MIN_PART * mean(measured.filter(estimate => estimate > 0));
  return nodes.map(({ works }) => {
    const values: number[] = [];
    let sum = 0;
    for (const { file, seconds, isRepeat } of works.flatMap(({ executions }) => executions)) {
      const estimate = measured[file]!;
      if (isRepeat || estimate === 0 || estimate < least || !seconds) continue;
      values.push(Math.log(seconds / estimate));
      sum += seconds;
    }
    return { values, seconds: sum };
  });
}

function trimmedMean(values: readonly number[]): number {
  const left = Math.floor(TRIMMED * values.length);
  return mean(values.toSorted((a, b) => a - b).slice(left, values.length - left));
}
