import { commonBytes } from '../../bytes.js';
import { AFTER, BEFORE } from './head.js';
import type { PathList } from './path-list.js';

/** Adjacent files of a list that are adjacent in another one as well: `length` files, from `file` of the list and `other` of the other one. */
export interface Match {
  file: number;
  other: number;
  length: number;
}

/** How many paths of a long list are looked up to tell whether it has any in common with another one. */
const SAMPLES = 32;
/** Multiples of it, modulo 1, are spread evenly and have no period: new paths are often every second or fourth one. */
const GOLDEN_RATIO = 0.618033988749895;

/**
 * Finds the paths of a list in another one, in one walk along both. It compares the bytes of their JSON. Where these have another order than
 * the paths it may miss a path, and where the lists have few paths in common it may miss all, but it never takes one for another.
 */
export function matchPaths(list: PathList, other: PathList): Match[] {
  const matches: Match[] = [];
  if (list.length > 2 * SAMPLES && !hasSampleIn(list, other)) return matches;
  let file = 0;
  let candidate = 0;
  while (file < list.length && candidate < other.length) {
    const order = compareHeads(list, file, other, candidate);
    if (order === 0) {
      // Heads that are the same end at the same places.
      const same = commonBytes(list.heads, list.startOf(file), other.heads, other.startOf(candidate));
      const length = list.filesUntil(list.startOf(file) + same) - file;
      matches.push({ file, other: candidate, length });
      file += length;
      candidate += length;
    } else if (order < 0) file += 1;
    else candidate += 1;
  }
  return matches;
}

/** Whether one of a few paths, spread over a list, is in another list. */
function hasSampleIn(list: PathList, other: PathList): boolean {
  for (let i = 0; i < SAMPLES; i++) {
    const path = list.at(Math.floor(list.length * ((i * GOLDEN_RATIO) % 1)));
    const place = other.indexOf(path);
    if (place < other.length && other.at(place) === path) return true;
  }
  return false;
}

/** Takes over the store's numbers that a list lacks, for the paths that another list of the project has as well. */
export function copyNumbers({ columns: { numbers } }: PathList, { columns: other }: PathList, matches: readonly Match[]): void {
  for (const match of matches) {
    for (let i = 0; i < match.length; i++) if (numbers[match.file + i] === 0) numbers[match.file + i] = other.numbers[match.other + i]!;
  }
}

function compareHeads(list: PathList, file: number, other: PathList, candidate: number): number {
  let at = list.startOf(file) + BEFORE.length;
  let otherAt = other.startOf(candidate) + BEFORE.length;
  // With the quote that ends the path, because a path may begin with the other one.
  const end = list.columns.ends[file]! - AFTER.length + 1;
  for (; at < end; at++, otherAt++) if (list.heads[at] !== other.heads[otherAt]) return list.heads[at]! - other.heads[otherAt]!;
  return 0;
}
