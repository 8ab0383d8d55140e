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
