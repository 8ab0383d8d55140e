import { totalWeight } from '../weight.js';

/** The files of a queue that no node has, by index. The index order is slowest first, and files are taken from places in that order. */
export class RemainingFiles {
  /** next[i] leads to the first remaining file at or after place i: union-find with path halving. */
  readonly #next: Uint32Array;
  /** The file at each place and the place of each file; null: they are equal. */
  readonly #scattered: Scattered | null;
  /** Files that were put back. They are taken before all others, from the end. */
  #putBack: number[] = [];
  #count: number;
  #weight: number;

  /**
   * @param weights whole numbers by file (see weight.ts), in descending order
   * @param isGuessed equal files are taken scattered, not in their order: the files of a directory are alike, and a batch of neighbours
   * would tell nothing of the others
   */
  constructor(
    readonly weights: Float64Array,
    isGuessed = false,
  ) {
    this.#scattered = isGuessed ? scatterEqual(weights) : null;
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
    this.#removeAt(this.#scattered?.places[file] ?? file);
  }

  #removeAt(place: number): void {
    if (this.#find(place) !== place) return;
    this.#next[place] = place + 1;
    this.#subtract(place);
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
    for (let place = 0; ; ) {
      place = this.#find(place);
      // Most often the next one fits.
      if (taken.length > 0 && this.weights[place]! > room) place = this.#find(this.#firstWithin(room, place));
      if (place === this.weights.length) return this.#scattered ? taken.sort((a, b) => a - b) : taken;
      this.#removeAt(place);
      taken.push(this.#scattered?.files[place] ?? place);
      // Files that change places have the same weight.
      room -= this.weights[place]! + hidden;
    }
  }

  #subtract(file: number): void {
    this.#count -= 1;
    this.#weight -= this.weights[file]!;
  }

  /** Returns the first place at or after this one whose file remains, not counting those that were put back. */
  #find(place: number): number {
    const next = this.#next;
    while (next[place] !== place) {
      next[place] = next[next[place]!]!;
      place = next[place]!;
    }
    return place;
  }

  /** Returns the first place at or after this one whose file is no longer than the weight. */
  #firstWithin(weight: number, place: number): number {
    let low = place;
    let high = this.weights.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.weights[middle]! > weight) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Scattered {
  files: Uint32Array;
  places: Uint32Array;
}

/** Multiples of this part of a whole spread evenly over it (Weyl). */
export const GOLDEN_RATIO = 0.618034;

/** Scatters the files of equal weight over their places. */
function scatterEqual(weights: Float64Array): Scattered {
  const files = new Uint32Array(weights.length);
  const places = new Uint32Array(weights.length);
  for (let start = 0, end = 0; start < weights.length; start = end) {
    while (end < weights.length && weights[end] === weights[start]) end += 1;
    const count = end - start;
    let step = Math.max(1, Math.round(GOLDEN_RATIO * count));
    while (commonDivisor(step, count) > 1) step += 1;
    for (let i = 0; i < count; i++) {
      const file = start + ((i * step) % count);
      files[start + i] = file;
      places[file] = start + i;
    }
  }
  return { files, places };
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
