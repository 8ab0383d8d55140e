import type { ListName } from '../api/messages/body-list.js';
import { countContainers, parseArray } from '../api/messages/decode.js';
import { areListed } from '../api/messages/test-file.js';
import { asBuffer, sharedMemory } from '../bytes.js';
import { pathsOf } from '../engine/listed-paths.js';
import { limits } from '../limits.js';
import { changeList } from '../planning/paths/change-list.js';
import { PathList, pathList } from '../planning/paths/path-list.js';
import type { KnownList } from './known-lists.js';
import { findEdits } from './list-edits.js';
import { cutPieces, shareCuts } from './list-pieces.js';

/** Adjacent entries of a list. */
interface Entries {
  paths: string[];
  /** Where the text of each begins, and where that of the last one ends. */
  cuts: number[];
  /** How many opening brackets they have. */
  containers: number;
}

const NO_ENTRIES: Entries = { paths: [], cuts: [], containers: 0 };
const [COMMA, OPENING_BRACKET, CLOSING_BRACKET] = Buffer.from(',[]');

/**
 * Returns the list in a text. Only the entries that another list lacks are parsed. Null: the text must be parsed as a whole.
 *
 * The text is valid if each of its parts consists of whole entries. A part that both lists have begins and ends at commas between
 * entries of the other list, so it is whole entries here if what comes before it is. A new part is parsed with brackets in place of the
 * commas around it.
 * @param text of an array, which may be invalid. The list keeps it, so it is in memory that threads share
 */
export function changedList(base: KnownList, text: Buffer): KnownList | null {
  const { name, columns } = base;
  const old = { text: asBuffer(base.text), cuts: base.cuts };
  // If a path is listed twice, it remains when one of its entries is removed.
  if (old.cuts.length - 1 !== columns.ends.length) return null;
  const edits = findEdits(old, text);
  if (!edits) return null;
  const removed: string[] = [];
  const added: string[] = [];
  const cuts: number[] = [];
  let { containers } = base;
  let piece = 0;
  let shift = 0;
  const keepUntil = (to: number) => {
    for (; piece < to; piece++) cuts.push(old.cuts[piece]! + shift);
  };
  for (const { from, to, start, end } of edits) {
    keepUntil(from);
    const gone = entriesIn(old.text, old.cuts[from]!, old.cuts[to]!, name)!;
    const come = entriesIn(text, start, end, name);
    if (!come) return null;
    // Not by spreads: an edit may have more entries than a call may have arguments.
    for (const path of gone.paths) removed.push(path);
    for (let i = 0; i < come.paths.length; i++) {
      added.push(come.paths[i]!);
      cuts.push(come.cuts[i]!);
    }
    containers += come.containers - gone.containers;
    piece = to;
    shift = end - old.cuts[to]!;
  }
  keepUntil(old.cuts.length - 1);
  if (cuts.length > limits.testFilesPerRequest) return null;
  cuts.push(text.length);
  const list = changeList(new PathList(columns), removed, pathList(added), sharedMemory);
  return { name, text, cuts: shareCuts(cuts), containers, columns: list.columns, times: null };
}

/** The entries in a part of the text of an array. Null: the part has none, or is not valid. */
function entriesIn(text: Buffer, start: number, end: number, name: ListName): Entries | null {
  if (start === end) return NO_ENTRIES;
  if (text[end - 1] !== (end === text.length ? CLOSING_BRACKET : COMMA)) return null;
  const array = Buffer.from(text.subarray(start - 1, end));
  array[0] = OPENING_BRACKET!;
  array[array.length - 1] = CLOSING_BRACKET!;
  const entries = parseArray(array);
  if (!entries || entries.length === 0 || !areListed[name](entries)) return null;
  const cuts = cutPieces(array).map(cut => start - 1 + cut);
  return { paths: pathsOf(entries), cuts, containers: countContainers(array, Infinity) - 1 };
}
