/**
 * Returns when the nodes of a build start if it has another number of nodes, in seconds. The first starts when the first one did.
 *
 * The observed starts are taken for a sample: start i of N is the quantile i / (N + 1) of how nodes start, and the new starts are the
 * quantiles k / (n + 1). Between two observed starts they lie on a straight line, and beyond the outermost ones they continue with the
 * step there, or with the mean step if that is smaller: one straggler does not make others. The observed number gives the observed starts.
 *
 * @param observed in any order, at least one
 */
export function resampleStarts(observed: Float64Array, nodes: number): Float64Array {
  if (nodes === observed.length) return observed;
  const last = observed.length - 1;
  if (last === 0) return new Float64Array(nodes).fill(observed[0]!);
  const sorted = observed.toSorted();
  const step = (from: number) => sorted[from + 1]! - sorted[from]!;
  const meanStep = (sorted[last]! - sorted[0]!) / last;
  const quantile = (part: number) => {
    const position = part * (sorted.length + 1) - 1;
    if (position <= 0) return sorted[0]! + position * Math.min(step(0), meanStep);
    if (position >= last) return sorted[last]! + (position - last) * Math.min(step(last - 1), meanStep);
    const below = Math.floor(position);
    return sorted[below]! + (position - below) * step(below);
  };
  const starts = Float64Array.from({ length: nodes }, (_, k) => quantile((k + 1) / (nodes + 1)));
  const shift = sorted[0]! - starts[0]!;
  return starts.map(start => start + shift);
}

/** Starts from a time on that are spread evenly, in seconds. */
export function evenStarts(first: number, spread: number, nodes: number): Float64Array {
  return Float64Array.from({ length: nodes }, (_, node) => first + (nodes === 1 ? 0 : (node * spread) / (nodes - 1)));
}
