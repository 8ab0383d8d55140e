/** The most bytes that a page loads of one address in a second: 1.2 MB a minute. */
const BYTES_PER_SECOND = 20_000;
/** The part of the time in which the server makes answers for one address of a page. */
const BUSY = 0.05;
/** A request that took long for other reasons, as while the computer slept, delays the next by no more seconds. */
const LONGEST = 60;
/** Where nothing happens, a page asks ever less often, up to this many seconds. */
const QUIET = 6;

/** A whole answer: its bytes on the line, and the seconds until it was there. */
export interface Cost {
  bytes: number;
  seconds: number;
}

/**
 * Returns the seconds until a page asks again, `least` or more.
 *
 * @param unchanged how often in a row the last whole answer still held; 0: it has just come
 */
export function waitAfter(least: number, { bytes, seconds }: Cost, unchanged: number): number {
  if (unchanged > 0) return Math.max(least, Math.min(QUIET, least * 1.5 ** unchanged));
  return Math.max(least, bytes / BYTES_PER_SECOND, Math.min(LONGEST, seconds / BUSY));
}
