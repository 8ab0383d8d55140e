/**
 * A weight is a duration in whole tenths of milliseconds. Sums of weights are exact, so the same list gives the same plan
 * on every machine: the largest list of files of the largest weight adds up to less than 2^53.
 */
export const WEIGHTS_PER_SECOND = 10_000;

/** A file that takes no time is not free, and one that takes absurdly long must not drown all others. */
const MIN_WEIGHT = 1;
const MAX_WEIGHT = 7 * 86_400 * WEIGHTS_PER_SECOND;

export function toWeight(seconds: number): number {
  return Math.min(MAX_WEIGHT, Math.max(MIN_WEIGHT, Math.round(seconds * WEIGHTS_PER_SECOND)));
}

export function toSeconds(weight: number): number {
  return weight / WEIGHTS_PER_SECOND;
}

/** A loop, because `reduce` takes three times as long. */
export function totalWeight(weights: Float64Array): number {
  let total = 0;
  for (let file = 0; file < weights.length; file++) total += weights[file]!;
  return total;
}
