import { type Segments } from '../wire/segments.js';
import type { Pieces } from './blobs.js';
import type { Store } from './open.js';

/**
 * The test files of a queue, each as JSON, slowest first: in blocks, because a pull reads those of one batch, which lie
 * together. A block is the ends of its files (4 bytes each, little-endian, from behind the last end), then their JSON.
 */
const FILES_PER_BLOCK = 64;
const END = 4;

/** The blocks of a queue's files. */
export function blocksOf(queue: string, files: Segments): Pieces {
  const { ends } = files;
  return {
    owner: queue,
    count: Math.ceil(ends.length / FILES_PER_BLOCK),
    piece(block) {
      const first = block * FILES_PER_BLOCK;
      const last = Math.min(ends.length, first + FILES_PER_BLOCK);
      const start = first === 0 ? 0 : ends[first - 1]!;
      const bytes = Buffer.allocUnsafe(END * FILES_PER_BLOCK + ends[last - 1]! - start);
      for (let i = 0; i < FILES_PER_BLOCK; i++) bytes.writeUInt32LE(ends[Math.min(last - 1, first + i)]! - start, END * i);
      Buffer.from(files.bytes.buffer, files.bytes.byteOffset + start, ends[last - 1]! - start).copy(bytes, END * FILES_PER_BLOCK);
      return bytes;
    },
  };
}

/** The JSON of some files of a queue. */
export function filesOf(store: Store, queue: string, files: readonly number[]): string[] {
  let block = -1;
  let bytes: Buffer = Buffer.alloc(0);
  const text = END * FILES_PER_BLOCK;
  return files.map(file => {
    const of = Math.floor(file / FILES_PER_BLOCK);
    // Valid until the next read.
    if (of !== block) bytes = store.blobs.getBinaryFast([queue, (block = of)])!;
    const i = file % FILES_PER_BLOCK;
    const start = i === 0 ? 0 : bytes.readUInt32LE(END * (i - 1));
    return bytes.toString('utf8', text + start, text + bytes.readUInt32LE(END * i));
  });
}
