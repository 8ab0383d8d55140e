/**
 * Plans count in whole tenths of milliseconds, so that sums are exact and the same list gives the same plan
 * everywhere. A weight is such a number, in a Float64Array: at most as many files as a request may list, of the
 * greatest weight each, add up to less than 2^53.
 */
export const WEIGHTS_PER_SECOND = 10_000;

/** A file of no time at all is not free either, and one of absurd length must not drown all others. */
const MIN_WEIGHT = 1;
const MAX_WEIGHT = 7 * 86_400 * WEIGHTS_PER_SECOND;

export function toWeight(seconds: number): number {
  return Math.min(MAX_WEIGHT, Math.max(MIN_WEIGHT, Math.round(seconds * WEIGHTS_PER_SECOND)));
}

export function toSeconds(weight: number): number {
  return weight / WEIGHTS_PER_SECOND;
}
