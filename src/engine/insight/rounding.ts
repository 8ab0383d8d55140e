/** Seconds in whole milliseconds. */
export function wholeMilliseconds(seconds: number): number {
  return Math.round(1000 * seconds) / 1000;
}

/** A value to a part of its unit, finite as JSON needs it. Seconds to tenths of milliseconds, as plans count. */
export function rounded(value: number, parts = 10_000): number {
  const scaled = Math.round(value * parts) / parts;
  return Number.isFinite(scaled) ? scaled : Math.min(Number.MAX_VALUE, value);
}
