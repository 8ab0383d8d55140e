/** Standard deviations per median absolute deviation, for normally distributed values. */
export const DEVIATIONS_PER_MAD = 1.4826;
/** Their median's standard error, in median absolute deviations over the square root of their number: 1.2533 times the error of a mean. */
export const ERROR_OF_MEDIAN = 1.2533 * DEVIATIONS_PER_MAD;

/** Returns the median, the mean of the two middle values if their number is even, or 0 without any. */
export function median(values: readonly number[]): number {
  if (values.length <= 1) return values[0] ?? 0;
  return middleOf(values.toSorted((a, b) => a - b));
}

/** The median of sorted values, at least one. */
export function middleOf(sorted: ArrayLike<number>): number {
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[sorted.length % 2 === 1 ? middle : middle - 1]!, sorted[middle]!];
  // The sum of two huge values may overflow, half of a tiny one may be 0; their difference does neither.
  return low + (high - low) / 2;
}

/**
 * The median slope between the smaller and the larger half of points (after Theil, 1950), its standard error, and of how many pairs it is: a
 * pair with the same x has none.
 *
 * @param points by x, ascending
 */
export function medianSlope(points: readonly (readonly [x: number, y: number])[]): { slope: number; error: number; pairs: number } {
  const half = points.length >> 1;
  const slopes = points.slice(0, half).flatMap(([x, y], i) => {
    const [largerX, largerY] = points[points.length - half + i]!;
    return largerX > x ? [(largerY - y) / (largerX - x)] : [];
  });
  const slope = median(slopes);
  const error = (ERROR_OF_MEDIAN * median(slopes.map(each => Math.abs(each - slope)))) / Math.sqrt(slopes.length);
  return { slope, error, pairs: slopes.length };
}

/** The mean, or 0 without any values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / Math.max(1, values.length);
}
