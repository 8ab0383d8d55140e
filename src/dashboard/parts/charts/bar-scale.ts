/** A bar is at most as long as this many times the upper quartile. */
const MOST_TIMES = 2;

/**
 * Returns the value that fills a bar: the largest one, unless it is so far above the others that these could not be compared. The bar of a
 * larger value is cut.
 */
export function fullBar(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const largest = sorted.at(-1) ?? 0;
  // Rounded down, so that it is not the outlier itself where there are few values.
  const quartile = sorted[Math.floor(0.75 * (sorted.length - 1))] ?? 0;
  return quartile > 0 ? Math.min(largest, MOST_TIMES * quartile) : largest;
}
