/** The files of a queue that no node has: files by index, slowest first. */
export class RemainingFiles {
  /** next[i] leads to the first untaken file at or after i; union-find with path halving. */
  readonly #next: Uint32Array;
  /** Files put back, to be taken before all others, from the end. */
  #putBack: number[] = [];
  #count: number;
  #weight: number;

  /** @param weights whole numbers by file (see weight.ts), in descending order */
  constructor(readonly weights: Float64Array) {
    this.#next = new Uint32Array(weights.length + 1);
    for (let file = 0; file <= weights.length; file++) this.#next[file] = file;
    this.#count = weights.length;
    this.#weight = weights.reduce((sum, weight) => sum + weight, 0);
  }

  get count(): number {
    return this.#count;
  }

  /** The weight of all of them. */
  get weight(): number {
    return this.#weight;
  }

  /** Takes the file if it is untaken. */
  remove(file: number): void {
    if (this.#find(file) !== file) return;
    this.#next[file] = file + 1;
    this.#count -= 1;
    this.#weight -= this.weights[file]!;
  }

  /** Puts files back that were taken: they come first. */
  putBack(files: readonly number[]): void {
    for (const file of files.toReversed()) {
      this.#putBack.push(file);
      this.#count += 1;
      this.#weight += this.weights[file]!;
    }
  }

  /** Takes those of the files that were put back and not taken again. */
  reclaim(files: readonly number[]): void {
    const own = new Set(files);
    const others = this.#putBack.filter(file => !own.has(file));
    const taken = this.#putBack.filter(file => own.has(file));
    this.#putBack = others;
    for (const file of taken) {
      this.#count -= 1;
      this.#weight -= this.weights[file]!;
    }
    // Of a queue that was read back they lie among the others.
    for (const file of files) this.remove(file);
  }

  /**
   * Takes about so much weight: what was put back and the longest file always (one of them),
   * then the longest that still fit. Nothing is left untaken by rounding: no files means that none are left.
   */
  take(weight: number): number[] {
    const taken: number[] = [];
    let room = weight;
    while (this.#putBack.length > 0) {
      const file = this.#putBack.at(-1)!;
      if (taken.length > 0 && this.weights[file]! > room) return taken;
      this.#putBack.pop();
      this.#count -= 1;
      this.#weight -= this.weights[file]!;
      taken.push(file);
      room -= this.weights[file]!;
    }
    for (;;) {
      const file = this.#find(taken.length === 0 ? 0 : this.#firstWithin(room));
      if (file === this.weights.length) return taken;
      this.remove(file);
      taken.push(file);
      room -= this.weights[file]!;
    }
  }

  #find(file: number): number {
    const next = this.#next;
    while (next[file] !== file) {
      next[file] = next[next[file]!]!;
      file = next[file]!;
    }
    return file;
  }

  /** The first file no longer than the weight. */
  #firstWithin(weight: number): number {
    let low = 0;
    let high = this.weights.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.weights[middle]! > weight) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
