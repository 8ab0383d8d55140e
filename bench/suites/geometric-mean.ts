/** Of positive numbers; 1 of none. */
export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / Math.max(1, values.length));
}
