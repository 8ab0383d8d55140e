/** Divides a list into parts in order, each of which costs at most `most` or has one item. */
export function divide<T>(list: readonly T[], most: number, costOf: (item: T) => number): T[][] {
  const parts: T[][] = [];
  let room = 0;
  for (const item of list) {
    const cost = costOf(item);
    if (cost > room) {
      parts.push([]);
      room = most;
    }
    parts.at(-1)!.push(item);
    room -= cost;
  }
  return parts;
}
