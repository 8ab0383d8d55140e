/**
 * The standard error of a median of normally distributed values, in median absolute deviations over the square root of their number: a
 * median's error is 1.2533 times a mean's, and a standard deviation is 1.4826 of these deviations.
 */
export const ERROR_OF_MEDIAN = 1.4826 * 1.2533;

/** Returns the median, the mean of the two middle values if their number is even, or 0 without any. */
export function median(values: readonly number[]): number {
  if (values.length <= 1) return values[0] ?? 0;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  // The sum of two huge values may overflow, half of a tiny one may be 0; their difference does neither.
  const [low, high] = [sorted[middle - 1]!, sorted[middle]!];
  return low + (high - low) / 2;
}
