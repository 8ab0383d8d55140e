/** The median, of an even number the mean of the middle two; 0 of none. */
export function median(values: readonly number[]): number {
  if (values.length <= 1) return values[0] ?? 0;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  // The sum of two absurd values may be infinite, half of one nothing; their difference is neither.
  const [low, high] = [sorted[middle - 1]!, sorted[middle]!];
  return low + (high - low) / 2;
}
