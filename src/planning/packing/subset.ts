/** The search takes at most this many numbers: each is a bit of the answer. */
export const MAX_NUMBERS = 16;

/** The subsets of one half of the numbers, in the order of their sums. */
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
 * Returns the subset of the first `count` numbers whose sum is nearest to the target: bit i stands for number i. It is exact.
 * Meet in the middle (Horowitz and Sahni 1974): the sorted sums of both halves are walked from opposite ends, in about
 * 6 x 2^(count / 2) steps.
 */
export function nearestSubset(numbers: Float64Array, count: number, target: number): number {
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
