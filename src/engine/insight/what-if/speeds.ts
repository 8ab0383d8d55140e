import { median } from '../../../planning/estimating/median.js';
import type { Timeline } from '../timeline/timeline.js';
import type { Observed } from './observed.js';

/** How fast the nodes of a build ran test files, relative to the usual speed. */
export interface Speeds {
  /** By node that started. */
  speeds: Float64Array;
  /** The standard deviation of the logarithms of the speeds, without outliers: how much a further node may differ. */
  spread: number;
}

/** A node's speed is known if at least this many of its files have an estimate. */
const MIN_FILES = 5;
/** Shorter files than this part of the mean one do not count: their times are mostly those of the clock and the runner. */
const MIN_PART = 0.1;
/** The standard deviation of normally distributed values, in median absolute deviations. */
const DEVIATION_OF_MEDIAN = 1.4826;
/** The outermost values that a trimmed mean leaves out, on either side, as a part of all. */
const TRIMMED = 0.2;
/** The standard error of such a mean of normally distributed values, relative to that of the mean. */
const ERROR_OF_TRIMMED_MEAN = 1.06;
/** The nodes differ when their variance is larger than that of chance by this many of its standard errors. */
const SIGNIFICANT_ERRORS = 3;

/** The speeds of the nodes of a build. Guesses say nothing about them. */
export function speedsIn({ files: { estimates, isGuess } }: Pick<Timeline, 'files'>, observed: Observed): Speeds {
  return speedsOf(
    observed,
    estimates.map((seconds, file) => (isGuess[file] === 1 ? NaN : seconds)),
  );
}

/**
 * Compares the recorded times of each node with their estimates: a node is slower than the others when its files took another factor of
 * their estimates. The factor of a node is the mean of its files without the outermost ones. It counts in full when the nodes differ by
 * much more than the error of these means, and less the more of the differences is chance (empirical Bayes, Efron and Morris 1975).
 *
 * @param estimates seconds by file; NaN: there is none, or it is a guess
 */
export function speedsOf({ seconds, nodes, lanes }: Observed, estimates: Float64Array): Speeds {
  /** By node: the logarithms of recorded over estimated time. */
  const ratios = lanes.map((): number[] => []);
  const least = MIN_PART * mean(estimates.filter(estimate => estimate > 0));
  for (const [file, time] of seconds.entries()) {
    const estimate = estimates[file]!;
    if (time > 0 && estimate > 0 && estimate >= least) ratios[nodes[file]!]!.push(Math.log(time / estimate));
  }
  const factors = ratios.map(trimmedMean);
  const known = [...ratios.keys()].filter(node => ratios[node]!.length >= MIN_FILES);
  const usual = median(known.map(node => factors[node]!));
  // How much a file differs from the others of its node.
  const deviation = DEVIATION_OF_MEDIAN * median(ratios.flatMap((own, node) => own.map(ratio => Math.abs(ratio - factors[node]!))));
  const errorOf = (node: number) => (ERROR_OF_TRIMMED_MEAN * deviation) ** 2 / ratios[node]!.length;
  const differences = known.map(node => factors[node]! - usual);
  const error = mean(known.map(errorOf));
  const squares = mean(differences.map(each => each ** 2));
  const isChance = squares <= error * (1 + SIGNIFICANT_ERRORS * Math.sqrt(2 / known.length));
  const variance = isChance ? 0 : squares - error;
  const usualVariance = isChance ? 0 : (DEVIATION_OF_MEDIAN * median(differences.map(Math.abs))) ** 2;
  const speeds = new Float64Array(lanes.length).fill(1);
  for (const [i, node] of known.entries()) {
    if (variance > 0) speeds[node] = Math.exp((-differences[i]! * variance) / (variance + errorOf(node)));
  }
  return { speeds, spread: Math.sqrt(Math.max(0, usualVariance - error)) };
}

/**
 * The speed of a node of which nothing is known: the speeds of such nodes have the spread of the known ones, and no order. A node keeps its
 * speed whatever the number of nodes.
 *
 * @param index counts these nodes
 */
export function unknownSpeed(spread: number, index: number): number {
  // Steps of the golden ratio fill an interval evenly (Weyl). The quantiles of the logistic distribution are near those of the normal.
  const part = (0.5 + (index + 1) * GOLDEN_RATIO) % 1;
  return Math.exp(spread * LOGISTIC_SCALE * Math.log(part / (1 - part)));
}

const GOLDEN_RATIO = 0.618034;
/** A logistic distribution with this scale has the standard deviation 1. */
const LOGISTIC_SCALE = Math.sqrt(3) / Math.PI;

function mean(values: readonly number[] | Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / Math.max(1, values.length);
}

function trimmedMean(values: readonly number[]): number {
  const left = Math.floor(TRIMMED * values.length);
  return mean(values.toSorted((a, b) => a - b).slice(left, values.length - left));
}
