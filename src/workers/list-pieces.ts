import type { ListName } from '../api/messages/body-list.js';
import { sharedMemory } from '../bytes.js';

const [QUOTE, BACKSLASH, COMMA, OPENING_BRACKET, OPENING_BRACE, CLOSING_BRACKET, CLOSING_BRACE] = Buffer.from('"\\,[{]}');

/**
 * The pieces of a JSON array: each entry with the comma or bracket after it. Returns where each begins, and where the last one ends.
 * @param array it is valid and not empty
 */
export function cutPieces(array: Uint8Array): number[] {
  const cuts = [1];
  let depth = 0;
  for (let at = 0; at < array.length; at++) {
    const byte = array[at]!;
    if (byte === QUOTE) at = endOfString(array, at);
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth += 1;
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth -= 1;
    else if (byte === COMMA && depth === 1) cuts.push(at + 1);
  }
  cuts.push(array.length);
  return cuts;
}

/** The fewest bytes of an entry, with the comma or bracket after it, in addition to the characters of its path. */
const BYTES_AROUND = { test_files: '{"path":""},'.length, paths: '"",'.length };

/**
 * Returns what `cutPieces` returns. Nearly all lists are written without blanks, escapes and further keys: the lengths of the paths then tell
 * the places.
 * @param list it was validated
 * @param paths of its entries, in their order
 */
export function piecesOf(list: Uint8Array, name: ListName, paths: readonly string[]): readonly number[] {
  let at = 1;
  const cuts = [at];
  for (const { length } of paths) cuts.push((at += length + BYTES_AROUND[name]));
  // An entry takes at least so many bytes. If the sum is the length of the list, each takes exactly as many.
  return at === list.length ? cuts : cutPieces(list);
}

/** The place of the quote that ends the string that begins at a quote. */
function endOfString(text: Uint8Array, quote: number): number {
  let at = quote + 1;
  while (text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Copies the places of pieces to memory that threads share. */
export function shareCuts(cuts: readonly number[]): Uint32Array {
  const shared = new Uint32Array(sharedMemory(Uint32Array.BYTES_PER_ELEMENT * cuts.length));
  shared.set(cuts);
  return shared;
}
