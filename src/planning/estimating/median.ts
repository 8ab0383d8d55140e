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

/**
 * Returns the value that would be at an index if the values were sorted. Hoare's selection: it moves values, and takes time in proportion to
 * their number, a tenth of that of sorting them. The pivots are random, so that no order of values makes it slow.
 */
export function nthSmallest(values: Float64Array, index: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[low + Math.floor(Math.random() * (high - low + 1))]!;
    let [i, j] = [low, high];
    while (i <= j) {
      while (values[i]! < pivot) i += 1;
      while (values[j]! > pivot) j -= 1;
      if (i > j) break;
      const value = values[i]!;
      values[i++] = values[j]!;
      values[j--] = value;
    }
    // Between j and i, all values are equal to the pivot.
    if (index <= j) high = j;
    else if (index >= i) low = i;
    else return pivot;
  }
  return values[index]!;
}
