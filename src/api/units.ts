/** Seconds in whole milliseconds. */
export function secondsOf(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}
