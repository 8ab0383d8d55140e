import { memoryBounds } from './memory-bounds.js';

/** The memory that `scratch` returns again. */
let kept = Buffer.alloc(0);

/**
 * Memory of this thread until it asks again. It has any content. New memory for each plan would take longer than what is written to it:
 * the system maps it page by page.
 */
export function scratch(bytes: number): Buffer {
  if (bytes <= kept.length) return kept;
  const memory = Buffer.allocUnsafeSlow(bytes);
  if (bytes <= memoryBounds.scratch) kept = memory;
  return memory;
}

/** The same bytes as a Buffer, without a copy. */
export function asBuffer({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Memory that threads share. */
export const sharedMemory = (bytes: number) => new SharedArrayBuffer(bytes);

/** Copies bytes, which may be in pieces, to memory that threads share. */
export function shareBytes(...pieces: readonly Uint8Array[]): Buffer {
  const copy = Buffer.from(sharedMemory(pieces.reduce((sum, { length }) => sum + length, 0)));
  let at = 0;
  for (const piece of pieces) {
    copy.set(piece, at);
    at += piece.length;
  }
  return copy;
}

/** Bytes of the first native comparison, and of the largest. Each is twice the last: the more were the same, the more are likely to be. */
const FIRST_COMPARED = 256;
const MOST_COMPARED = 65_536;
/** So few bytes are compared faster by a loop. */
const LOOP = 64;

/** How many bytes of one text, from a place on, are the same as those of another one from a place on. */
export function commonBytes(one: Buffer, oneFrom: number, other: Buffer, otherFrom: number): number {
  const most = Math.min(one.length - oneFrom, other.length - otherFrom);
  const areSame = (from: number, to: number) => one.compare(other, otherFrom + from, otherFrom + to, oneFrom + from, oneFrom + to) === 0;
  let same = 0;
  let size = Math.min(FIRST_COMPARED, most);
  while (same < most && areSame(same, same + size)) {
    same += size;
    size = Math.min(2 * size, MOST_COMPARED, most - same);
  }
  // The first difference is within this size.
  while (size > LOOP) {
    const half = size >> 1;
    if (areSame(same, same + half)) {
      same += half;
      size -= half;
    } else size = half;
  }
  while (same < most && one[oneFrom + same] === other[otherFrom + same]) same += 1;
  return same;
}
