import { randomUUID } from 'node:crypto';
import { asBuffer } from '../../../base/bytes.js';

/**
 * Most of a body is its list of test files, which is the same in many bodies. So the list is cut out, and the rest of the body is parsed with
 * a placeholder in its place. In JSON, whether a text is a value does not depend on the text around it. If the rest parses, and the
 * placeholder, which no client can know, is the value of the parameter, then the whole body parses exactly if the cut text is a value. The
 * bodies then differ in that value only. If the list is not where it seems to be, the rest does not parse, and the whole body is parsed.
 */

/** The parameters that list all test files. */
export type ListName = 'test_files' | 'paths';

/** The value that stands for a list. */
export const PLACEHOLDER = randomUUID();

const [SPACE, TAB, NEWLINE, RETURN, COLON, OPENING_BRACKET] = Buffer.from(' \t\n\r:[');
const CLOSINGS = { test_files: '}]', paths: '"]' } as const;

/** Returns where the array of a parameter seems to begin; -1: nowhere. */
export function findListStart(body: Uint8Array, name: ListName): number {
  const key = `"${name}"`;
  let at = asBuffer(body).indexOf(key);
  if (at < 0) return -1;
  at = afterBlanks(body, at + key.length);
  if (body[at] !== COLON) return -1;
  at = afterBlanks(body, at + 1);
  return body[at] === OPENING_BRACKET ? at : -1;
}

/** Returns where the array that begins at `start` seems to end; -1: nowhere. */
export function findListEnd(body: Uint8Array, name: ListName, start: number): number {
  const closing = CLOSINGS[name];
  const at = asBuffer(body).indexOf(closing, start);
  return at < 0 ? -1 : at + closing.length;
}

/** Returns the body with the placeholder in place of the bytes from `start` to `end`. */
export function restOfBody(body: readonly Uint8Array[], start: number, end: number): Buffer {
  const rest: Uint8Array[] = [];
  let offset = 0;
  for (const piece of body) {
    if (offset < end && offset + piece.length >= end) {
      if (start >= offset) rest.push(piece.subarray(0, start - offset));
      rest.push(Buffer.from(`"${PLACEHOLDER}"`), piece.subarray(end - offset));
    } else if (offset < start) rest.push(piece.subarray(0, start - offset));
    else if (offset >= end) rest.push(piece);
    offset += piece.length;
  }
  return Buffer.concat(rest);
}

function afterBlanks(body: Uint8Array, at: number): number {
  while (body[at] === SPACE || body[at] === TAB || body[at] === NEWLINE || body[at] === RETURN) at += 1;
  return at;
}
