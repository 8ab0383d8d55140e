/**
 * What the fullest node has at least, however the files are split: the greatest of
 *
 * - the average load;
 * - of the q M + r longest files on M nodes (1 <= r <= M), some r nodes have r (q + 1) or more, at best the shortest of
 *   them, and one of these nodes has the average (Haouari, Gharbi and Jemmali 2006). With q = 0 and r = 1 that is the
 *   longest file, with r = 1 the q + 1 shortest of the q M + 1 longest;
 * - what is not too short for the files that no node can have two of, and for those that do not fit beside them
 *   (Martello and Toth 1990: L2, a bound of bin packing);
 *
 * each rounded up to a multiple of the greatest common divisor of all weights, which every load is.
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
    const most = Math.min(nodes, weights.length - start);
    for (let r = 1; r <= most; r++) {
      const least = sums[start + r]! - sums[q * (nodes - r)]!;
      if (least > bound * r) bound = ceilingOfRatio(least, r * unit) * unit;
    }
  }
  if (!isInfeasible(bound, weights, sums, nodes)) return bound;
  // Twice the bound is enough for any list.
  let high = 2 * bound;
  while (high - bound > unit) {
    const middle = bound + Math.floor((high - bound) / unit / 2) * unit;
    if (isInfeasible(middle, weights, sums, nodes)) bound = middle;
    else high = middle;
  }
  return high;
}

/**
 * Whether no split is as short, seen from each file's side: those that do not fit beside it, and are longer than half
 * of the makespan, take a node each, and all others down to it have to fit on the other nodes.
 *
 * @param sums of the longest files, by how many
 */
function isInfeasible(makespan: number, weights: Float64Array, sums: Float64Array, nodes: number): boolean {
  let alone = weights.findIndex(weight => 2 * weight <= makespan);
  for (let i = alone; alone > 0 && i < weights.length; i++) {
    while (alone > 0 && weights[alone - 1]! + weights[i]! <= makespan) alone -= 1;
    if (sums[i + 1]! - sums[alone]! > (nodes - alone) * makespan) return true;
  }
  return false;
}

/** 1 when there are none. */
function commonDivisor(weights: Float64Array): number {
  let divisor = weights[0] ?? 1;
  for (let i = weights.length - 1; i > 0 && divisor > 1; i--) {
    for (let rest = weights[i]!; rest > 0; ) [divisor, rest] = [rest, divisor % rest];
  }
  return divisor;
}

/** Exact, which a quotient of large numbers is not. */
function ceilingOfRatio(whole: number, divisor: number): number {
  const rest = whole % divisor;
  return (whole - rest) / divisor + Number(rest > 0);
}
