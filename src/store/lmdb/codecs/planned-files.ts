import type { PathTimes } from '../../../planning/estimating/estimate.js';
import { toSeconds, toWeight, WEIGHTS_PER_SECOND } from '../../../planning/weight.js';

/** The longest JSON number, and the brace after it. */
const MAX_TIME_BYTES = 25;
const [ZERO, POINT, CLOSING_BRACE] = Buffer.from('0.}');

/** Writes planned files end to end, each as JSON with a comma before it: a list of some of them is a slice. */
export class PlannedFileWriter {
  /** A copy of the heads, then what is written: within one block a copy takes an eighth of the time. */
  readonly bytes: Buffer;
  /** The end of what is written. */
  at: number;

  /** @param more bytes for what else is written */
  constructor(
    readonly files: PathTimes,
    more: number,
  ) {
    const { heads, ends } = files.list.columns;
    // A buffer of Node's shared pool could not be moved to another thread.
    this.bytes = Buffer.from(new ArrayBuffer(2 * heads.length + MAX_TIME_BYTES * ends.length + more));
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
    this.at += ends[file]! - start;
    this.#writeSeconds(seconds[planned]!);
    this.writeByte(CLOSING_BRACE!);
  }

  writeByte(byte: number): void {
    this.bytes[this.at++] = byte;
  }

  #writeSeconds(seconds: number): void {
    const weight = toWeight(seconds);
    // Most estimates are rounded to weights. The digits of a whole number are found in a third of the time.
    if (toSeconds(weight) === seconds) this.#writeWeight(weight);
    else this.at += this.bytes.write(Number.isNaN(seconds) ? 'null' : String(seconds), this.at, 'latin1');
  }

  /** Writes the seconds of a weight. They have at most 11 digits, so these are the fewest that name the number. */
  #writeWeight(weight: number): void {
    let rest = weight % WEIGHTS_PER_SECOND;
    this.#writeDigits((weight - rest) / WEIGHTS_PER_SECOND);
    if (rest > 0) this.writeByte(POINT!);
    for (let unit = WEIGHTS_PER_SECOND / 10; rest > 0; unit /= 10) {
      const digit = Math.floor(rest / unit);
      this.writeByte(ZERO! + digit);
      rest -= digit * unit;
    }
  }

  #writeDigits(whole: number): void {
    if (whole >= 10) this.#writeDigits(Math.floor(whole / 10));
    this.writeByte(ZERO! + (whole % 10));
  }
}
