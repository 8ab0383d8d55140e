/** Groups values by their keys, in their order. Map.groupBy of Node 21. */
export function groupBy<T, Key>(all: Iterable<T>, keyOf: (one: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}
