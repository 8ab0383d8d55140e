/**
 * Rounds parts to whole numbers of a given sum, which is that of the parts up to errors of floating point. Parts that lose most by
 * rounding down are rounded up (the largest remainder method), so each is less than 1 from its exact value.
 */
export function largestRemainder(parts: readonly number[], sum: number): number[] {
  const whole = parts.map(part => Math.max(0, Math.floor(part)));
  const order = parts.map((part, i) => ({ i, remainder: part - whole[i]! })).sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  let left = sum - whole.reduce((total, each) => total + each, 0);
  for (let at = 0; left > 0; at = (at + 1) % order.length, left--) whole[order[at]!.i]! += 1;
  for (let at = order.length - 1; left < 0; at = (at + order.length - 1) % order.length) {
    if (whole[order[at]!.i]! === 0) continue;
    whole[order[at]!.i]! -= 1;
    left++;
  }
  return whole;
}
