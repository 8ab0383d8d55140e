/** As many numbers are searched at most; a bit of the answer each. */
export const MAX_NUMBERS = 16;

/** The subsets of one half of the numbers, by sum. */
interface Half {
  sums: Float64Array;
  subsets: Int32Array;
}

const half = (): Half => ({
  sums: new Float64Array(2 ** (MAX_NUMBERS / 2)),
  subsets: new Int32Array(2 ** (MAX_NUMBERS / 2)),
});
const even = half();
const odd = half();

/**
 * The subset of the first `count` numbers whose sum is nearest to the target, exactly: bit i stands for number i.
 * Meets in the middle (Horowitz and Sahni 1974): all sums of each half, in order, met from opposite ends.
 * Takes about 6 x 2^(count / 2) steps.
 */
export function nearestSubset(numbers: Float64Array, count: number, target: number): number {
  let low = 0;
  const evens = enumerate(even, numbers, 0, count);
  let high = enumerate(odd, numbers, 1, count) - 1;
  let nearest = 0;
  let least = Infinity;
  while (low < evens && high >= 0) {
    const excess = even.sums[low]! + odd.sums[high]! - target;
    const distance = Math.abs(excess);
    if (distance < least) {
      least = distance;
      nearest = even.subsets[low]! | odd.subsets[high]!;
    }
    if (excess < 0) low++;
    else high--;
  }
  return nearest;
}

/** Fills the half with all subsets of every second number, the least sum first; returns how many. */
function enumerate({ sums, subsets }: Half, numbers: Float64Array, from: number, count: number): number {
  let length = 1;
  sums[0] = 0;
  subsets[0] = 0;
  for (let i = from; i < count; i += 2) {
    const number = numbers[i]!;
    // Each number merges the subsets without it and the same ones with it, from the greatest sum down, in place.
    let without = length - 1;
    for (let given = length - 1, to = 2 * length - 1; given >= 0; to--) {
      const sum = sums[given]! + number;
      if (sums[without]! > sum) {
        sums[to] = sums[without]!;
        subsets[to] = subsets[without--]!;
      } else {
        sums[to] = sum;
        subsets[to] = subsets[given--]! | (1 << i);
      }
    }
    length *= 2;
  }
  return length;
}
