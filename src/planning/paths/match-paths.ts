import { AFTER, BEFORE } from './head.js';
import type { PathColumns, PathList } from './path-list.js';

/**
 * Finds the paths of a list in another one, in one walk along both: by file of the list, the file of the other one, or -1. It compares
 * the bytes of their JSON. Where these have another order than the paths it may miss a path, but it never takes one for another.
 */
export function matchPaths({ columns: list }: PathList, { columns: other }: PathList): Int32Array {
  const match = new Int32Array(list.ends.length).fill(-1);
  let file = 0;
  let candidate = 0;
  while (file < list.ends.length && candidate < other.ends.length) {
    const order = compareHeads(list, file, other, candidate);
    if (order === 0) match[file] = candidate;
    if (order <= 0) file += 1;
    if (order >= 0) candidate += 1;
  }
  return match;
}

/** Takes over the store's numbers that a list lacks, for the paths that another list of the project has as well. */
export function copyNumbers({ columns: { numbers } }: PathList, { columns: other }: PathList, match: Int32Array): void {
  for (let file = 0; file < match.length; file++) {
    if (numbers[file] === 0 && match[file]! >= 0) numbers[file] = other.numbers[match[file]!]!;
  }
}

function compareHeads(list: PathColumns, file: number, other: PathColumns, candidate: number): number {
  let at = (file === 0 ? 0 : list.ends[file - 1]!) + BEFORE.length;
  let otherAt = (candidate === 0 ? 0 : other.ends[candidate - 1]!) + BEFORE.length;
  const end = list.ends[file]! - AFTER.length;
  // The closing quote ends the comparison of a path that begins with the other one.
  for (; at < end; at++, otherAt++) if (list.heads[at] !== other.heads[otherAt]) return list.heads[at]! - other.heads[otherAt]!;
  return 0;
}
