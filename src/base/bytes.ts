/** The same bytes as a Buffer, without a copy. */
export function asBuffer({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Memory that threads share. */
export const sharedMemory = (bytes: number) => new SharedArrayBuffer(bytes);

/** Counts the bytes in pieces. */
export const bytesIn = (pieces: readonly Uint8Array[]) => pieces.reduce((sum, { length }) => sum + length, 0);

/** Copies bytes, which may be in pieces, to memory that threads share. */
export function shareBytes(...pieces: readonly Uint8Array[]): Buffer {
  const copy = Buffer.from(sharedMemory(bytesIn(pieces)));
  let at = 0;
  for (const piece of pieces) {
    copy.set(piece, at);
    at += piece.length;
  }
  return copy;
}

/** Pieces of UTF-8 text, end to end in one block. They move between threads and into the store without a copy of each. */
export interface Segments {
  bytes: Uint8Array;
  /** The end of each piece, in bytes. */
  ends: Uint32Array;
}

export function toSegments(texts: readonly string[]): Segments {
  const text = texts.join('');
  const size = Buffer.byteLength(text);
  // A buffer of Node's shared pool could not be moved to another thread.
  const bytes = Buffer.from(new ArrayBuffer(size));
  bytes.write(text);
  // A text of as many bytes as characters is ASCII, and so are its pieces.
  const sizeOf = size === text.length ? (piece: string) => piece.length : Buffer.byteLength;
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let i = 0; i < texts.length; i++) ends[i] = end += sizeOf(texts[i]!);
  return { bytes, ends };
}

/** Returns piece i, without a copy. */
export function segment({ bytes, ends }: Segments, i: number): Buffer {
  const start = i === 0 ? 0 : ends[i - 1]!;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, ends[i]! - start);
}
