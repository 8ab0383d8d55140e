import { commonBytes } from '../bytes.js';
import { firstWhere } from '../planning/first-where.js';

/** A JSON array, and where its pieces begin, see list-pieces.ts. */
export interface CutArray {
  text: Buffer;
  cuts: Uint32Array;
}

/** Replaces the pieces of an array from one to before another by bytes of another array. */
export interface ListEdit {
  from: number;
  to: number;
  start: number;
  end: number;
}

/** A place from which both arrays are the same: a piece of the one, and a byte of the other. */
interface Common {
  piece: number;
  at: number;
}

/** The largest part of an array that edits may replace. Beyond it, parsing the whole array is faster. */
const MOST_EDITED = 1 / 16;
/** Bytes of the first search for a piece, and bytes that all searches may take beyond the length of the array. */
const FIRST_WINDOW = 4096;
const EXTRA_SEARCHED = 32 * FIRST_WINDOW;
/** A piece is found by its last bytes, because the time of a search may grow with the length of what is searched for. */
const NEEDLE = 64;
/** A place that only looks right counts as the bytes of the piece, which may have been compared there, and at least as many as these. */
const WRONG_PLACE = 128;

/**
 * Finds the edits that turn an array into another one. Null: they would be large. Between two edits, both have the same pieces of the first
 * array. Its last piece is only at the end, because it has the closing bracket.
 */
export function findEdits(array: CutArray, other: Buffer): ListEdit[] | null {
  const { text, cuts } = array;
  const search = new Search(array, other);
  const edits: ListEdit[] = [];
  const last = cuts.length - 2;
  let edited = 0;
  let common: Common | null = { piece: 0, at: cuts[0]! };
  while (common) {
    const { piece, at } = common;
    const same = commonBytes(text, cuts[piece]!, other, at);
    if (cuts[piece]! + same === text.length && at + same === other.length) return edits;
    const from = Math.min(last, firstWhere(cuts.length, cut => cuts[cut]! > cuts[piece]! + same) - 1);
    const start = at + cuts[from]! - cuts[piece]!;
    common = search.next(from, start);
    const edit = common ? { from, to: common.piece, start, end: common.at } : { from, to: last + 1, start, end: other.length };
    edits.push(edit);
    edited += Math.max(edit.end - edit.start, cuts[edit.to]! - cuts[edit.from]!);
    if (edited > MOST_EDITED * other.length) return null;
  }
  return edits;
}

class Search {
  #bytesLeft: number;

  constructor(
    readonly array: CutArray,
    readonly other: Buffer,
  ) {
    this.#bytesLeft = other.length + EXTRA_SEARCHED;
  }

  /**
   * Finds the next place from which both are the same, after a piece of the array and a byte of the other one; null: there is none. It looks for
   * the first piece, then for later ones in larger windows, so that its time grows with the size of the edit.
   */
  next(from: number, start: number): Common | null {
    // The last piece ends with the bracket, so it is not searched for.
    const most = this.array.cuts.length - 3;
    for (let skipped = 0, window = FIRST_WINDOW; from <= most && this.#bytesLeft > 0; skipped = 2 * skipped + 1, window *= 2) {
      const piece = Math.min(most, from + skipped);
      const at = this.#find(piece, start, start + window);
      if (at !== null) return this.#first({ piece, at }, from, start);
      if (piece === most && start + window >= this.other.length) return null;
    }
    return null;
  }

  /** Finds a piece of the array in a window of the other one; null: it is not there. */
  #find(piece: number, start: number, end: number): number | null {
    const { array, other } = this;
    const { text, cuts } = array;
    const [begin, stop] = [cuts[piece]!, cuts[piece + 1]!];
    const needle = text.subarray(Math.max(begin, stop - NEEDLE), stop);
    const searched = other.subarray(start, end);
    this.#bytesLeft -= searched.length;
    for (let found = searched.indexOf(needle); found >= 0 && this.#bytesLeft > 0; found = searched.indexOf(needle, found + 1)) {
      const at = start + found + needle.length - (stop - begin);
      if (at >= start && text.compare(other, at, at + stop - begin, begin, stop) === 0) return at;
      this.#bytesLeft -= Math.max(WRONG_PLACE, stop - begin);
    }
    return null;
  }

  /** Moves a place back over pieces that are the same. */
  #first({ piece, at }: Common, from: number, start: number): Common {
    const { array, other } = this;
    const { text, cuts } = array;
    while (piece > from) {
      const before = at - (cuts[piece]! - cuts[piece - 1]!);
      if (before < start || text.compare(other, before, at, cuts[piece - 1]!, cuts[piece]!) !== 0) break;
      piece -= 1;
      at = before;
    }
    return { piece, at };
  }
}
