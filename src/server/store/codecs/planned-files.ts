import { memoryBounds } from '../../engine/memory-bounds.js';
import type { Suite } from '../../engine/suites/suite.js';
import type { PathTimes } from '../../planning/estimating/estimate.js';
import { toSeconds, toWeight, WEIGHTS_PER_SECOND } from '../../planning/weight.js';

/** The longest JSON number, and the brace after it. */
const MAX_TIME_BYTES = 25;
const [ZERO, POINT, CLOSING_BRACE] = Buffer.from('0.}');

/** The memory that `scratch` returns again. */
let kept = Buffer.alloc(0);

/**
 * Memory of this thread until it asks again. It has any content. New memory for each plan would take longer than what is written to it:
 * the system maps it page by page.
 */
function scratch(bytes: number): Buffer {
  if (bytes <= kept.length) return kept;
  const memory = Buffer.allocUnsafeSlow(bytes);
  if (bytes <= memoryBounds.scratch) kept = memory;
  return memory;
}

/** Writes planned files end to end, each as JSON with a comma before it: a list of some of them is a slice. */
export class PlannedFileWriter {
  /** A copy of the heads, then what is written: within one block a copy takes an eighth of the time. Valid until the next writer. */
  readonly bytes: Buffer;
  /** The end of what is written. */
  at: number;

  /** @param more bytes for what else is written */
  constructor(
    readonly files: PathTimes<Suite>,
    more: number,
  ) {
    const { heads, ends } = files.list.columns;
    this.bytes = scratch(2 * heads.length + MAX_TIME_BYTES * ends.length + more);
    this.bytes.set(heads);
    this.at = heads.length;
  }

  /** Writes a file of the plan as JSON.stringify does, with a comma before it. */
  write(planned: number): void {
    const { list, order, seconds } = this.files;
    const { ends } = list.columns;
    const file = order[planned]!;
    const start = file === 0 ? 0 : ends[file - 1]!;
    this.bytes.copyWithin(this.at, start, ends[file]!);
    this.at = this.#writeSeconds(seconds[planned]!, this.at + ends[file]! - start);
    this.bytes[this.at++] = CLOSING_BRACE!;
  }

  /** Returns where the digits end. */
  #writeSeconds(seconds: number, at: number): number {
    const weight = toWeight(seconds);
    // Most estimates are rounded to weights. The digits of a whole number are found in a tenth of the time.
    if (toSeconds(weight) === seconds) return writeWeight(this.bytes, weight, at);
    return writeAscii(this.bytes, Number.isNaN(seconds) ? 'null' : String(seconds), at);
  }
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
