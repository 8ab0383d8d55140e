/**
 * Returns the value that would be at an index if the values were sorted. Hoare's selection: it moves values, and takes time in proportion to
 * their number, a tenth of that of sorting them. The pivots are random, so that no order of values makes it slow.
 */
export function nthSmallest(values: Float64Array, index: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[low + Math.floor(Math.random() * (high - low + 1))]!;
    let [i, j] = [low, high];
    while (i <= j) {
      while (values[i]! < pivot) i += 1;
      while (values[j]! > pivot) j -= 1;
      if (i > j) break;
      const value = values[i]!;
      values[i++] = values[j]!;
      values[j--] = value;
    }
    // Between j and i, all values are equal to the pivot.
    if (index <= j) high = j;
    else if (index >= i) low = i;
    else return pivot;
  }
  return values[index]!;
}
