import { totalWeight } from '../weight.js';

/** The files of a queue that no node has, by index. The index order is slowest first. */
export class RemainingFiles {
  /** next[i] leads to the first remaining file at or after i: union-find with path halving. */
  readonly #next: Uint32Array;
  /** Files that were put back. They are taken before all others, from the end. */
  #putBack: number[] = [];
  #count: number;
  #weight: number;

  /** @param weights whole numbers by file (see weight.ts), in descending order */
  constructor(readonly weights: Float64Array) {
    this.#next = new Uint32Array(weights.length + 1);
    for (let file = 0; file <= weights.length; file++) this.#next[file] = file;
    this.#count = weights.length;
    this.#weight = totalWeight(weights);
  }

  get count(): number {
    return this.#count;
  }

  /** The sum of the weights of all remaining files. */
  get weight(): number {
    return this.#weight;
  }

  /** Takes the file, unless it is taken already. */
  remove(file: number): void {
    if (this.#find(file) !== file) return;
    this.#next[file] = file + 1;
    this.#subtract(file);
  }

  /** Puts taken files back. They are the next to be taken. */
  putBack(files: readonly number[]): void {
    for (const file of files.toReversed()) {
      this.#putBack.push(file);
      this.#count += 1;
      this.#weight += this.weights[file]!;
    }
  }

  /** Takes those of the files that were put back and not taken since. */
  reclaim(files: readonly number[]): void {
    const reclaimed = new Set(files);
    this.#putBack = this.#putBack.filter(file => {
      if (!reclaimed.has(file)) return true;
      this.#subtract(file);
      return false;
    });
    // In a queue that was read back, files that were put back are like all others.
    for (const file of files) this.remove(file);
  }

  /**
   * Takes files of about this weight: first those that were put back, then the longest that fit.
   * It takes at least one file, however small the weight is: an empty result means that no file remains.
   *
   * @param hidden what each file takes besides its weight
   */
  take(weight: number, hidden = 0): number[] {
    const taken: number[] = [];
    let room = weight - hidden;
    while (this.#putBack.length > 0) {
      const file = this.#putBack.at(-1)!;
      if (taken.length > 0 && this.weights[file]! > room) return taken;
      this.#putBack.pop();
      this.#subtract(file);
      taken.push(file);
      room -= this.weights[file]! + hidden;
    }
    for (let file = 0; ; ) {
      file = this.#find(file);
      // Most often the next one fits.
      if (taken.length > 0 && this.weights[file]! > room) file = this.#find(this.#firstWithin(room, file));
      if (file === this.weights.length) return taken;
      this.remove(file);
      taken.push(file);
      room -= this.weights[file]! + hidden;
    }
  }

  #subtract(file: number): void {
    this.#count -= 1;
    this.#weight -= this.weights[file]!;
  }

  /** Returns the first remaining file at or after this one, not counting those that were put back. */
  #find(file: number): number {
    const next = this.#next;
    while (next[file] !== file) {
      next[file] = next[next[file]!]!;
      file = next[file]!;
    }
    return file;
  }

  /** Returns the first file at or after this one that is no longer than the weight. */
  #firstWithin(weight: number, file: number): number {
    let low = file;
    let high = this.weights.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.weights[middle]! > weight) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
