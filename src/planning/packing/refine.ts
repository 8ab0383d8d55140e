import { MAX_NUMBERS, nearestSubset } from './subset.js';

/** A split that can change: the files of each node are a linked list, slowest first, and -1 ends it. */
export interface Split {
  /** By node: its slowest file, and the sum of the weights of its files. */
  first: Int32Array;
  loads: Float64Array;
  /** By file: the next one of the same node. */
  next: Int32Array;
}

/** A step is a file or a subset looked at, some nanoseconds. The same list gets the same steps on any machine. */
const STEPS = 500_000;
const STEPS_PER_FILE = 20;
/** Of more files than a subset is looked for in, so many of the slowest are among those searched. */
const SLOWEST = 8;

/**
 * Makes the fullest node emptier, until none has more than `enough` or the steps are used up.
 *
 * The one move is to divide the files of two nodes anew, with the nearest subset sum: between the fullest node and the
 * emptiest one evenly (Haouari, Gharbi and Jemmali 2006). When that does not help, two nodes at random are divided at
 * random, but so that both stay below the fullest, and the fullest tries those. Of many files only some
 * may change hands: of each length some, or, after a random division, the slowest and some of the others.
 */
export function refine(weights: Float64Array, split: Split, enough: number): void {
  new Refinement(weights, split).run(enough);
}

class Refinement {
  readonly #nodes: number;
  /** Nodes by load, the fullest last. */
  readonly #order: Int32Array;
  #stepsLeft: number;
  #random = 1;

  /** The files of two nodes, slowest first, and whether each is the first one's. */
  readonly #files: Int32Array;
  readonly #inSubset: Uint8Array;
  /** Those of them that may change hands: their places among the two nodes' files, and weights. */
  readonly #places = new Int32Array(MAX_NUMBERS);
  readonly #freeWeights = new Float64Array(MAX_NUMBERS);

  constructor(
    private readonly weights: Float64Array,
    private readonly split: Split,
  ) {
    const { loads } = split;
    this.#nodes = loads.length;
    this.#order = Int32Array.from(loads.keys()).sort((a, b) => loads[a]! - loads[b]! || a - b);
    this.#stepsLeft = STEPS + STEPS_PER_FILE * weights.length;
    this.#files = new Int32Array(weights.length);
    this.#inSubset = new Uint8Array(weights.length);
  }

  run(enough: number): void {
    const { loads } = this.split;
    while (this.#stepsLeft > 0) {
      const fullest = this.#order[this.#nodes - 1]!;
      if (loads[fullest]! <= enough) return;
      if (this.#rebalance(fullest, this.#order[0]!, 0)) continue;
      const one = this.#randomBelow(this.#nodes);
      const other = (one + 1 + this.#randomBelow(this.#nodes - 1)) % this.#nodes;
      if (!this.#perturb(one, other, loads[fullest]!)) continue;
      if (!this.#rebalance(fullest, one, SLOWEST)) this.#rebalance(fullest, other, SLOWEST);
    }
  }

  /** Makes the fuller of two nodes emptier than it is, if their files can be divided so. */
  #rebalance(fuller: number, other: number, slowest: number): boolean {
    const { loads } = this.split;
    return this.#divide(fuller, other, (loads[fuller]! + loads[other]!) / 2, loads[fuller]!, slowest);
  }

  /** Divides the files of two nodes at random so that both get less than the limit. */
  #perturb(one: number, other: number, limit: number): boolean {
    const total = this.split.loads[one]! + this.split.loads[other]!;
    const least = Math.max(0, total - limit + 1);
    return this.#divide(one, other, least + this.#randomBelow(total - 2 * least + 1), limit, SLOWEST);
  }

  /** Gives the node files of both that come nearest to the target, the other the rest; not if one gets the limit. */
  #divide(node: number, other: number, target: number, limit: number, slowest: number): boolean {
    const { loads } = this.split;
    const total = loads[node]! + loads[other]!;
    this.#stepsLeft -= 1;
    if (node === other || total > 2 * (limit - 1)) return false;
    const count = this.#gather(node, other);
    const free = this.#selectMovable(count, slowest);
    let load = loads[node]!;
    for (let i = 0; i < free; i++) {
      const weight = this.weights[this.#files[this.#places[i]!]!]!;
      this.#freeWeights[i] = weight;
      if (this.#inSubset[this.#places[i]!]) load -= weight;
    }
    const subset = nearestSubset(this.#freeWeights, free, target - load);
    this.#stepsLeft -= 2 * count + 6 * 2 ** (free >> 1);
    for (let i = 0; i < free; i++) if ((subset >> i) & 1) load += this.#freeWeights[i]!;
    if (load >= limit || total - load >= limit) return false;
    for (let i = 0; i < free; i++) this.#inSubset[this.#places[i]!] = (subset >> i) & 1;
    this.#link(node, 1, count);
    this.#link(other, 0, count);
    this.#setLoad(node, load);
    this.#setLoad(other, total - load);
    return true;
  }

  /**
   * Picks those of the gathered files that may change hands, as many as a subset is looked for in: all of them, or the
   * slowest and one of each length of the rest. Returns how many.
   */
  #selectMovable(count: number, slowest: number): number {
    if (count <= MAX_NUMBERS) {
      for (let i = 0; i < count; i++) this.#places[i] = i;
      return count;
    }
    const stretch = (count - slowest) / (MAX_NUMBERS - slowest);
    for (let i = 0, start = 0; i < MAX_NUMBERS; i++) {
      const end = i < slowest ? i + 1 : slowest + Math.floor((i + 1 - slowest) * stretch);
      this.#places[i] = end - start === 1 ? start : start + this.#randomBelow(end - start);
      start = end;
    }
    return MAX_NUMBERS;
  }

  /** Merges the files of two nodes; returns how many. */
  #gather(node: number, other: number): number {
    const { first, next } = this.split;
    let count = 0;
    for (let a = first[node]!, b = first[other]!; a !== -1 || b !== -1; count++) {
      const isFirsts = b === -1 || (a !== -1 && a < b);
      this.#files[count] = isFirsts ? a : b;
      this.#inSubset[count] = Number(isFirsts);
      if (isFirsts) a = next[a]!;
      else b = next[b]!;
    }
    return count;
  }

  #link(node: number, isFirsts: number, count: number): void {
    const { first, next } = this.split;
    let after = -1;
    for (let i = count - 1; i >= 0; i--) {
      if (this.#inSubset[i] !== isFirsts) continue;
      next[this.#files[i]!] = after;
      after = this.#files[i]!;
    }
    first[node] = after;
  }

  /** Gives the node its new load, and its place among the others. */
  #setLoad(node: number, load: number): void {
    const from = this.#rank(node, this.split.loads[node]!);
    let to = this.#rank(node, load);
    if (to > from) this.#order.copyWithin(from, from + 1, to--);
    else this.#order.copyWithin(to + 1, to, from);
    this.#order[to] = node;
    this.split.loads[node] = load;
    this.#stepsLeft -= Math.abs(to - from) >> 4;
  }

  /** How many nodes would come before it with this load. */
  #rank(node: number, load: number): number {
    const { loads } = this.split;
    let low = 0;
    let high = this.#nodes;
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = this.#order[middle]!;
      if (loads[at]! < load || (loads[at]! === load && at < node)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** A number from 0 to below the bound, whole; always the same sequence (Marsaglia 2003: xorshift). */
  #randomBelow(bound: number): number {
    this.#random ^= this.#random << 13;
    this.#random ^= this.#random >>> 17;
    this.#random ^= this.#random << 5;
    return Math.floor(((this.#random >>> 0) / 2 ** 32) * bound);
  }
}
