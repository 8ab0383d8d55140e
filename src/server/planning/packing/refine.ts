/** A split that can be changed. */
export interface Split {
  /** The files of each node, slowest first. */
  nodes: number[][];
  /** The weight of all files of each node. */
  loads: Float64Array;
}

/** The limit of the search. A step looks at a file or a subset and takes nanoseconds; a list gets the same steps on any machine. */
const STEPS = 500_000;
const STEPS_PER_FILE = 20;
/** When there are more files than a subset search takes, this many of the slowest are included. */
const SLOWEST_INCLUDED = 8;

/**
 * Reduces the makespan by local search, until it is at most `target` or the steps are used up.
 *
 * A move redistributes the files of two nodes by the nearest subset sum: evenly between the nodes with the most and the least
 * load (Haouari, Gharbi and Jemmali 2006). When that does not help, the files of two random nodes are divided at random, so that
 * both stay below the makespan, and the node with the most load tries each of these. When two nodes have more files than
 * a subset search takes, only some may move: some of each length, or, after a random division, the slowest and some of the others.
 */
export function refine(weights: Float64Array, split: Split, target: number): void {
  new Refinement(weights, split).run(target);
}

class Refinement {
  /** The nodes with the most and the least load. */
  #fullest = 0;
  #emptiest = 0;
  #stepsLeft: number;
  #random = 1;

  /** The files of two nodes, slowest first, and 1 for those of the first node. */
  readonly #files: Int32Array;
  readonly #isFirst: Uint8Array;
  /** The files that may move: their indices in #files, and their weights. */
  readonly #movable = new Int32Array(MAX_NUMBERS);
  readonly #movableWeights = new Float64Array(MAX_NUMBERS);

  constructor(
    private readonly weights: Float64Array,
    private readonly split: Split,
  ) {
    this.#stepsLeft = STEPS + STEPS_PER_FILE * weights.length;
    this.#files = new Int32Array(weights.length);
    this.#isFirst = new Uint8Array(weights.length);
  }

  run(target: number): void {
    const { loads } = this.split;
    this.#compareLoads();
    while (this.#stepsLeft > 0) {
      const fullest = this.#fullest;
      if (loads[fullest]! <= target) return;
      if (this.#rebalance(fullest, this.#emptiest, 0)) continue;
      const one = this.#randomBelow(loads.length);
      const other = (one + 1 + this.#randomBelow(loads.length - 1)) % loads.length;
      if (!this.#perturb(one, other, loads[fullest]!)) continue;
      if (!this.#rebalance(fullest, one, SLOWEST_INCLUDED)) this.#rebalance(fullest, other, SLOWEST_INCLUDED);
    }
  }

  /** Divides the files of two nodes evenly. Returns false if that does not reduce the load of the fuller one. */
  #rebalance(fuller: number, other: number, slowest: number): boolean {
    const { loads } = this.split;
    return this.#divide(fuller, other, (loads[fuller]! + loads[other]!) / 2, loads[fuller]!, slowest);
  }

  /** Divides the files of two nodes at random, so that both loads are below the limit. */
  #perturb(one: number, other: number, limit: number): boolean {
    const total = this.split.loads[one]! + this.split.loads[other]!;
    const min = Math.max(0, total - limit + 1);
    return this.#divide(one, other, min + this.#randomBelow(total - 2 * min + 1), limit, SLOWEST_INCLUDED);
  }

  /** Gives the first node the files of both that come nearest to the target load. Returns false, and changes nothing, if a load reaches the limit. */
  #divide(node: number, other: number, target: number, limit: number, slowest: number): boolean {
    const { loads } = this.split;
    const total = loads[node]! + loads[other]!;
    this.#stepsLeft -= 1;
    if (node === other || total > 2 * (limit - 1)) return false;
    const count = this.#gather(node, other);
    const movable = this.#selectMovable(count, slowest);
    let load = loads[node]!;
    for (let i = 0; i < movable; i++) {
      const weight = this.weights[this.#files[this.#movable[i]!]!]!;
      this.#movableWeights[i] = weight;
      if (this.#isFirst[this.#movable[i]!]) load -= weight;
    }
    const subset = nearestSubset(this.#movableWeights, movable, target - load);
    this.#stepsLeft -= 2 * count + 6 * 2 ** (movable >> 1);
    for (let i = 0; i < movable; i++) if ((subset >> i) & 1) load += this.#movableWeights[i]!;
    if (load >= limit || total - load >= limit) return false;
    for (let i = 0; i < movable; i++) this.#isFirst[this.#movable[i]!] = (subset >> i) & 1;
    this.split.nodes[node] = this.#gathered(1, count);
    this.split.nodes[other] = this.#gathered(0, count);
    loads[node] = load;
    loads[other] = total - load;
    this.#compareLoads();
    return true;
  }

  /**
   * Selects the gathered files that may move, at most as many as a subset search takes: all of them, or the slowest
   * and one of each length of the others. Returns their number.
   */
  #selectMovable(count: number, slowest: number): number {
    if (count <= MAX_NUMBERS) {
      for (let i = 0; i < count; i++) this.#movable[i] = i;
      return count;
    }
    const stretch = (count - slowest) / (MAX_NUMBERS - slowest);
    for (let i = 0, start = 0; i < MAX_NUMBERS; i++) {
      const end = i < slowest ? i + 1 : slowest + Math.floor((i + 1 - slowest) * stretch);
      this.#movable[i] = end - start === 1 ? start : start + this.#randomBelow(end - start);
      start = end;
    }
    return MAX_NUMBERS;
  }

  /** Merges the files of two nodes into #files. Returns their number. */
  #gather(node: number, other: number): number {
    const [ours, theirs] = [this.split.nodes[node]!, this.split.nodes[other]!];
    const count = ours.length + theirs.length;
    for (let i = 0, a = 0, b = 0; i < count; i++) {
      const isFirst = b === theirs.length || (a < ours.length && ours[a]! < theirs[b]!);
      this.#files[i] = isFirst ? ours[a++]! : theirs[b++]!;
      this.#isFirst[i] = Number(isFirst);
    }
    return count;
  }

  /** Returns the gathered files of the first node (1) or the other one (0). */
  #gathered(isFirst: number, count: number): number[] {
    const files: number[] = [];
    for (let i = 0; i < count; i++) if (this.#isFirst[i] === isFirst) files.push(this.#files[i]!);
    return files;
  }

  /** Finds the fullest and the emptiest node: the last and the first of equal ones. */
  #compareLoads(): void {
    const { loads } = this.split;
    let [fullest, emptiest] = [0, 0];
    for (let node = 1; node < loads.length; node++) {
      if (loads[node]! >= loads[fullest]!) fullest = node;
      if (loads[node]! < loads[emptiest]!) emptiest = node;
    }
    [this.#fullest, this.#emptiest] = [fullest, emptiest];
    this.#stepsLeft -= loads.length >> 4;
  }

  /** Returns a pseudorandom integer from 0 to below the bound (Marsaglia 2003: xorshift). The sequence is always the same. */
  #randomBelow(bound: number): number {
    this.#random ^= this.#random << 13;
    this.#random ^= this.#random >>> 17;
    this.#random ^= this.#random << 5;
    return Math.floor(((this.#random >>> 0) / 2 ** 32) * bound);
  }
}

/** The search takes at most this many numbers: each is a bit of the answer. */
const MAX_NUMBERS = 16;

/** The subsets of one half of the numbers, in the order of their sums. */
interface Half {
  sums: Float64Array;
  subsets: Int32Array;
}

const half = (): Half => ({ sums: new Float64Array(2 ** (MAX_NUMBERS / 2)), subsets: new Int32Array(2 ** (MAX_NUMBERS / 2)) });
const even = half();
const odd = half();

/**
 * Returns the subset of the first `count` numbers whose sum is nearest to the target: bit i stands for number i. It is exact.
 * Meet in the middle (Horowitz and Sahni 1974): the sorted sums of both halves are walked from opposite ends, in about
 * 6 x 2^(count / 2) steps.
 */
function nearestSubset(numbers: Float64Array, count: number, target: number): number {
  let low = 0;
  const evens = enumerate(even, numbers, 0, count);
  let high = enumerate(odd, numbers, 1, count) - 1;
  let nearest = 0;
  let leastDistance = Infinity;
  while (low < evens && high >= 0) {
    const excess = even.sums[low]! + odd.sums[high]! - target;
    const distance = Math.abs(excess);
    if (distance < leastDistance) {
      leastDistance = distance;
      nearest = even.subsets[low]! | odd.subsets[high]!;
    }
    if (excess < 0) low++;
    else high--;
  }
  return nearest;
}

/** Fills the half with all subsets of every second number, the smallest sum first. Returns their number. */
function enumerate({ sums, subsets }: Half, numbers: Float64Array, from: number, count: number): number {
  let length = 1;
  sums[0] = 0;
  subsets[0] = 0;
  for (let i = from; i < count; i += 2) {
    const number = numbers[i]!;
    // For each number, merges the subsets without it and the same subsets with it, from the largest sum down, in place.
    let without = length - 1;
    for (let withNumber = length - 1, to = 2 * length - 1; withNumber >= 0; to--) {
      const sum = sums[withNumber]! + number;
      if (sums[without]! > sum) {
        sums[to] = sums[without]!;
        subsets[to] = subsets[without--]!;
      } else {
        sums[to] = sum;
        subsets[to] = subsets[withNumber--]! | (1 << i);
      }
    }
    length *= 2;
  }
  return length;
}
