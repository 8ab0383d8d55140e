import { totalWeight } from '../weight.js';

/** The files of a queue that no node has, by index. The index order is slowest first. */
export class RemainingFiles {
  /** next[i] leads to the first remaining file at or after i: union-find with path halving. */
  readonly #next: Uint32Array;
  /** Files that were put back. They are taken before all others, from the end. */
  #putBack: number[] = [];
  /** Those of `first` that are left. They are taken from the end. */
  #first: number[];
  #count: number;
  #weight: number;

  /**
   * @param weights whole numbers by file (see weight.ts), in descending order
   * @param first few files that only `takeFirst` takes
   */
  constructor(
    readonly weights: Float64Array,
    readonly first: readonly number[] = [],
  ) {
    this.#next = new Uint32Array(weights.length + 1);
    for (let file = 0; file <= weights.length; file++) this.#next[file] = file;
    for (const file of first) this.#next[file] = file + 1;
    this.#first = first.toReversed();
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

  /** Tells whether files are left that only `takeFirst` takes. */
  get hasFirst(): boolean {
    return this.#first.length > 0;
  }

  /** The weight of the slowest file besides `first` and those that were put back; null: there is none. */
  get slowest(): number | null {
    return this.weights[this.#find(0)] ?? null;
  }

  /** Takes the file, unless it is taken already, or is of `first`. */
  remove(file: number): void {
    if (this.#find(file) !== file) return;
    this.#next[file] = file + 1;
    this.#subtract(file);
  }

  /** Puts taken files back. They are the next to be taken. */
  putBack(files: readonly number[]): void {
    for (const file of files.toReversed()) {
      (this.first.includes(file) ? this.#first : this.#putBack).push(file);
      this.#count += 1;
      this.#weight += this.weights[file]!;
    }
  }

  /** Takes those of the files that are not taken: also those that were put back, or are of `first`. */
  reclaim(files: readonly number[]): void {
    const reclaimed = new Set(files);
    const isLeft = (file: number) => {
      if (!reclaimed.has(file)) return true;
      this.#subtract(file);
      return false;
    };
    this.#putBack = this.#putBack.filter(isLeft);
    this.#first = this.#first.filter(isLeft);
    // In a queue that was read back, files that were put back are like all others.
    for (const file of files) this.remove(file);
  }

  /**
   * Takes files of about this weight: first those that were put back, then the longest that fit.
   * It takes at least one file, however small the weight is: an empty result means that no file remains besides `first`.
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

  /** Takes files of `first` of about this weight, as `take` does others. */
  takeFirst(weight: number, hidden = 0): number[] {
    const taken: number[] = [];
    let room = weight - hidden;
    while (this.#first.length > 0 && (taken.length === 0 || this.weights[this.#first.at(-1)!]! <= room)) {
      const file = this.#first.pop()!;
      this.#subtract(file);
      taken.push(file);
      room -= this.weights[file]! + hidden;
    }
    return taken;
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
