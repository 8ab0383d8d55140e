/**
 * Returns a lower bound of the makespan of any split: the largest of
 *
 * - the average load;
 * - the bound of Haouari, Gharbi and Jemmali (2006): of the q M + r longest files on M nodes (1 <= r <= M), some r nodes have
 *   at least r (q + 1) files, at best the shortest of them, and one of these nodes has at least their average. With q = 0 and
 *   r = 1 that is the longest file, with r = 1 the q + 1 shortest of the q M + 1 longest;
 * - the smallest makespan that L2, a bound of bin packing (Martello and Toth 1990), does not exclude;
 *
 * each rounded up to a multiple of the greatest common divisor of all weights, because every load is one.
 *
 * @param weights whole numbers by file, in descending order
 */
export function lowerBound(weights: Float64Array, nodes: number): number {
  const sums = new Float64Array(weights.length + 1);
  for (let i = 0; i < weights.length; i++) sums[i + 1] = sums[i]! + weights[i]!;
  const unit = commonDivisor(weights);
  let bound = ceilingOfRatio(sums[weights.length]!, nodes * unit) * unit;
  for (let start = 0; start < weights.length; start += nodes) {
    const q = start / nodes;
    const maxR = Math.min(nodes, weights.length - start);
    for (let r = 1; r <= maxR; r++) {
      const load = sums[start + r]! - sums[q * (nodes - r)]!;
      if (load > bound * r) bound = ceilingOfRatio(load, r * unit) * unit;
    }
  }
  if (!isInfeasible(bound, weights, sums, nodes)) return bound;
  // Every list has a split of at most twice the bound.
  let high = 2 * bound;
  while (high - bound > unit) {
    const middle = bound + Math.floor((high - bound) / unit / 2) * unit;
    if (isInfeasible(middle, weights, sums, nodes)) bound = middle;
    else high = middle;
  }
  return high;
}

/**
 * Tells whether no split has this makespan, by L2: for each file, the files that are longer than half of the makespan and do not fit
 * beside it take a node each, and the other files down to it must fit on the remaining nodes.
 *
 * @param sums sums[n] is the weight of the n longest files
 */
function isInfeasible(makespan: number, weights: Float64Array, sums: Float64Array, nodes: number): boolean {
  let alone = weights.findIndex(weight => 2 * weight <= makespan);
  for (let i = alone; alone > 0 && i < weights.length; i++) {
    while (alone > 0 && weights[alone - 1]! + weights[i]! <= makespan) alone -= 1;
    if (sums[i + 1]! - sums[alone]! > (nodes - alone) * makespan) return true;
  }
  return false;
}

/** Returns the greatest common divisor, or 1 without any weights. */
function commonDivisor(weights: Float64Array): number {
  let divisor = weights[0] ?? 1;
  for (let i = weights.length - 1; i > 0 && divisor > 1; i--) {
    for (let remainder = weights[i]!; remainder > 0; ) [divisor, remainder] = [remainder, divisor % remainder];
  }
  return divisor;
}

/** Rounds the ratio up. This is exact, unlike a quotient of large numbers. */
function ceilingOfRatio(whole: number, divisor: number): number {
  const remainder = whole % divisor;
  return (whole - remainder) / divisor + Number(remainder > 0);
}
