import { commonBytes } from '../bytes.js';

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

/** Both arrays go on with this piece of the one, at this byte of the other. */
interface Common {
  piece: number;
  at: number;
}

/** Edits may replace this part of an array: more of it is parsed faster as a whole. */
const MOST_EDITED = 1 / 16;
/** Bytes that are searched for a piece at first, and beyond the length of the array in all. */
const FIRST_WINDOW = 4096;
const EXTRA_SEARCHED = 32 * FIRST_WINDOW;
/** A piece is found by its last bytes, because the time of a search may grow with the length of what is searched for. */
const NEEDLE = 64;
/** A place that only looks right counts as the bytes of the piece, which may have been compared there, and at least as many as these. */
const WRONG_PLACE = 128;

/**
 * Finds the edits that make an array another one. Null: they would be large. What is between two edits are pieces of the first array, which are
 * the same bytes in the other one. The last piece is only there at the end.
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
    const from = Math.min(last, lastCutUntil(cuts, piece, cuts[piece]! + same));
    const start = at + cuts[from]! - cuts[piece]!;
    common = search.next(from, start);
    const edit = common ? { from, to: common.piece, start, end: common.at } : { from, to: last + 1, start, end: other.length };
    edits.push(edit);
    edited += Math.max(edit.end - edit.start, cuts[edit.to]! - cuts[edit.from]!);
    if (edited > MOST_EDITED * other.length) return null;
  }
  return edits;
}

/** The last of the cuts, from one of them on, that is not after a place. */
function lastCutUntil(cuts: Uint32Array, from: number, place: number): number {
  let low = from;
  let high = cuts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (cuts[middle]! <= place) low = middle;
    else high = middle;
  }
  return low;
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
   * Finds where both go on, from a piece of the array and a byte of the other one on; null: nowhere. It looks for the first piece, then for
   * later ones in larger windows, so that it takes about as long as the edit is large.
   */
  next(from: number, start: number): Common | null {
    // Not the last one, because it ends with the bracket.
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

  /** Goes back over pieces that both have. */
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
