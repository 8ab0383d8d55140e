import { GOLDEN_RATIO } from '../../planning/estimating/estimate.js';
import { DEVIATIONS_PER_MAD, mean, median } from '../../planning/estimating/median.js';
import { executionsOf } from '../minutes/executions.js';
import { type Slowness, slownessOf } from '../minutes/slowness.js';
import type { Timeline } from '../timeline/timeline.js';

/** Speeds at which the nodes of a build ran test files, relative to the usual speed. */
export interface Speeds {
  /** By node that started. */
  speeds: Float64Array;
  /** The standard deviation of the logarithms of the speeds, without outliers: how much a further node may differ. */
  spread: number;
}

/** The nodes differ when their variance is larger than that of chance by this many of its standard errors. */
const SIGNIFICANT_ERRORS = 3;

/** The speeds of the nodes of a build. */
export function speedsIn(timeline: Timeline): Speeds {
  const { speeds, spread } = speedsOf(slownessOf(executionsOf(timeline), timeline));
  return { speeds: speeds.filter((_, node) => timeline.nodes[node]!.start !== null), spread };
}

/**
 * The speeds by which nodes are played: their slowness counts in full when the nodes differ by much more than the errors of what was
 * measured, and less the more of the differences is chance (empirical Bayes, Efron and Morris 1975). A node of unknown slowness is usual.
 */
export function speedsOf({ factors, errors }: Pick<Slowness, 'factors' | 'errors'>): Speeds {
  const known = [...factors.keys()].filter(node => factors[node] !== null);
  const differences = known.map(node => Math.log(factors[node]!));
  const chance = known.map(node => Math.max(Number.MIN_VALUE, errors[node]! ** 2));
  const error = mean(chance);
  // The mean of such ratios is 1 if all is chance (Cochran's Q).
  const ratio = mean(differences.map((each, i) => each ** 2 / chance[i]!));
  const variance = mean(differences.map(each => each ** 2)) - error;
  const speeds = new Float64Array(factors.length).fill(1);
  if (!(ratio > 1 + SIGNIFICANT_ERRORS * Math.sqrt(2 / known.length)) || variance <= 0) return { speeds, spread: 0 };
  for (const [i, node] of known.entries()) speeds[node] = Math.exp((-differences[i]! * variance) / (variance + chance[i]!));
  const usualVariance = (DEVIATIONS_PER_MAD * median(differences.map(Math.abs))) ** 2;
  return { speeds, spread: Math.sqrt(Math.max(0, usualVariance - error)) };
}

/**
 * The speed of a node of which nothing is known: the speeds of such nodes have the spread of the known ones, and no order. A node keeps its
 * speed whatever the number of nodes.
 *
 * @param index counts these nodes
 */
export function unknownSpeed(spread: number, index: number): number {
  // The quantiles of the logistic distribution are near those of the normal.
  const part = (0.5 + (index + 1) * GOLDEN_RATIO) % 1;
  return Math.exp(spread * LOGISTIC_SCALE * Math.log(part / (1 - part)));
}

/** A logistic distribution with this scale has the standard deviation 1. */
const LOGISTIC_SCALE = Math.sqrt(3) / Math.PI;
