/** Seconds in whole milliseconds. */
export function wholeMilliseconds(seconds: number): number {
  return Math.round(1000 * seconds) / 1000;
}

/** A value to a part of its unit, finite as JSON needs it. Seconds to tenths of milliseconds, as plans count. */
export function rounded(value: number, parts = 10_000): number {
  const scaled = Math.round(value * parts) / parts;
  return Number.isFinite(scaled) ? scaled : Math.min(Number.MAX_VALUE, value);
}

/**
 * Rounds seconds to whole milliseconds of a given sum, which is that of the parts up to errors of floating point. Parts that lose most by
 * rounding down are rounded up (the largest remainder method), so each is less than a millisecond from its exact value.
 */
export function roundParts(seconds: readonly number[], sum: number): number[] {
  const parts = seconds.map(each => 1000 * each);
  const whole = parts.map(part => Math.max(0, Math.floor(part)));
  const order = parts.map((part, i) => ({ i, remainder: part - whole[i]! })).sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  let left = Math.round(1000 * sum) - whole.reduce((total, each) => total + each, 0);
  for (let at = 0; left > 0; at = (at + 1) % order.length, left--) whole[order[at]!.i]! += 1;
  for (let at = order.length - 1; left < 0; at = (at + order.length - 1) % order.length) {
    if (whole[order[at]!.i]! === 0) continue;
    whole[order[at]!.i]! -= 1;
    left++;
  }
  return whole.map(each => each / 1000);
}
