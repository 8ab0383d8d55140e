import { type Allocate, type PathList, pathListOf } from './path-list.js';

/** Adjacent files of a list. */
interface Part {
  list: PathList;
  from: number;
  to: number;
}

/**
 * Returns a list without some of its paths and with others, which may be among those. What it has in common with the list is copied in
 * blocks, with the store's numbers.
 * @param removed paths of the list
 */
export function changeList(list: PathList, removed: readonly string[], added: PathList, allocate: Allocate): PathList {
  return joined(partsOf(list, removed, added), list.columns.hasCases || added.columns.hasCases, allocate);
}

function partsOf(list: PathList, removed: readonly string[], added: PathList): Part[] {
  /** The files of the list that are removed. */
  const isRemoved = new Set(removed.map(path => list.indexOf(path)));
  /** The added files that the list lacks, and the file of the list that each comes before. */
  const places: { added: number; before: number }[] = [];
  for (let file = 0; file < added.length; file++) {
    const path = added.at(file);
    const before = list.indexOf(path);
    if (before < list.length && list.at(before) === path) isRemoved.delete(before);
    else places.push({ added: file, before });
  }
  const parts: Part[] = [];
  let from = 0;
  const take = (to: number) => {
    if (from < to) parts.push({ list, from, to });
    from = to;
  };
  let next = 0;
  for (const file of [...Array.from(isRemoved).sort((a, b) => a - b), list.length]) {
    for (; next < places.length && places[next]!.before <= file; next++) {
      take(places[next]!.before);
      parts.push({ list: added, from: places[next]!.added, to: places[next]!.added + 1 });
    }
    take(file);
    from = file + 1;
  }
  return parts;
}

function joined(parts: readonly Part[], hasCases: boolean, allocate: Allocate): PathList {
  const bytesOf = ({ list, from, to }: Part) => list.startOf(to) - list.startOf(from);
  const files = parts.reduce((sum, { from, to }) => sum + to - from, 0);
  const heads = new Uint8Array(allocate(parts.reduce((sum, part) => sum + bytesOf(part), 0)));
  const ends = new Uint32Array(allocate(Uint32Array.BYTES_PER_ELEMENT * files));
  const numbers = new Uint32Array(allocate(Uint32Array.BYTES_PER_ELEMENT * (files + 1)));
  let file = 0;
  let at = 0;
  for (const part of parts) {
    const { list, from, to } = part;
    const { columns } = list;
    const shift = at - list.startOf(from);
    heads.set(columns.heads.subarray(list.startOf(from), list.startOf(to)), at);
    numbers.set(columns.numbers.subarray(from, to), file);
    for (let i = from; i < to; i++) ends[file++] = columns.ends[i]! + shift;
    at += bytesOf(part);
  }
  return pathListOf({ heads, ends, hasCases, numbers });
}
