import { toSeconds, toWeight, WEIGHTS_PER_SECOND } from '../../planning/weight.js';

/** The longest JSON number. */
export const MAX_SECONDS_BYTES = 24;
const [ZERO, POINT] = Buffer.from('0.');

/** Writes seconds as JSON.stringify does; NaN: null. Returns where the digits end. */
export function writeSeconds(bytes: Buffer, seconds: number, at: number): number {
  const weight = toWeight(seconds);
  // Most estimates are rounded to weights. The digits of a whole number are found in a tenth of the time.
  if (toSeconds(weight) === seconds) return writeWeight(bytes, weight, at);
  return writeAscii(bytes, Number.isNaN(seconds) ? 'null' : String(seconds), at);
}

/** Writes a short text faster than a native call. Returns where it ends. */
function writeAscii(bytes: Buffer, text: string, at: number): number {
  for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
  return at;
}

/** Writes the seconds of a weight. They have at most 11 digits, so these are the fewest that name the number. Returns where they end. */
function writeWeight(bytes: Buffer, weight: number, at: number): number {
  // Both are small integers, which are divided several times as fast as other numbers.
  const whole = Math.floor(weight / WEIGHTS_PER_SECOND) | 0;
  let rest = (weight - whole * WEIGHTS_PER_SECOND) | 0;
  let unit = 1;
  while (unit * 10 <= whole) unit *= 10;
  for (let left = whole; unit >= 1; unit = (unit / 10) | 0) {
    const digit = (left / unit) | 0;
    bytes[at++] = ZERO! + digit;
    left -= digit * unit;
  }
  if (rest > 0) bytes[at++] = POINT!;
  for (unit = WEIGHTS_PER_SECOND / 10; rest > 0; unit = (unit / 10) | 0) {
    const digit = (rest / unit) | 0;
    bytes[at++] = ZERO! + digit;
    rest -= digit * unit;
  }
  return at;
}
