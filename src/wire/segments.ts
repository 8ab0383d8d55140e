/** Pieces of UTF-8 text end to end in one block: what moves between threads and into the store without a copy each. */
export interface Segments {
  bytes: Uint8Array;
  /** End of each piece in bytes. */
  ends: Uint32Array;
}

export function toSegments(texts: readonly string[]): Segments {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  texts.forEach((text, i) => {
    end += Buffer.byteLength(text);
    ends[i] = end;
  });
  // Of its own, not of Node's shared pool: it can be moved to another thread.
  const bytes = Buffer.from(new ArrayBuffer(end));
  texts.forEach((text, i) => bytes.write(text, i === 0 ? 0 : ends[i - 1]!));
  return { bytes, ends };
}

/** A view of piece i. */
export function segment({ bytes, ends }: Segments, i: number): Buffer {
  const start = i === 0 ? 0 : ends[i - 1]!;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, ends[i]! - start);
}
