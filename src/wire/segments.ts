/** Pieces of UTF-8 text end to end in one block: what moves between threads and into the store without a copy each. */
export interface Segments {
  bytes: Uint8Array;
  /** End of each piece in bytes. */
  ends: Uint32Array;
}

export function toSegments(texts: readonly string[]): Segments {
  const text = texts.join('');
  const size = Buffer.byteLength(text);
  const isAscii = size === text.length;
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let i = 0; i < texts.length; i++) ends[i] = end += isAscii ? texts[i]!.length : Buffer.byteLength(texts[i]!);
  // Of its own, not of Node's shared pool: it can be moved to another thread.
  const bytes = Buffer.from(new ArrayBuffer(end));
  bytes.write(text);
  return { bytes, ends };
}

/** A view of piece i. */
export function segment({ bytes, ends }: Segments, i: number): Buffer {
  const start = i === 0 ? 0 : ends[i - 1]!;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, ends[i]! - start);
}
