import type { PlannedTestFile } from '../../api/messages/test-file.js';
import { type CutText, cutSegments, type Segments, segment } from '../../engine/segments.js';
import { type Blobs, entriesOf } from './blobs.js';
import type { Parts } from './open.js';

/**
 * The test files of a queue, each as JSON behind a comma, slowest first: in blocks, because a pull reads those of one
 * batch, which lie together. A block is the ends of its files (4 bytes each, little-endian, from behind the last), then
 * the text.
 */
const FILES_PER_BLOCK = 64;
const END = 4;
const WEIGHTS = 'weights';

/** @param files each piece of which begins with a comma */
export function toBlocks(files: CutText): Segments {
  const { bytes, ends } = cutSegments(files);
  const count = blockCount(ends.length);
  const blocks = Buffer.from(new ArrayBuffer(END * FILES_PER_BLOCK * count + bytes.length));
  const endsOfBlocks = new Uint32Array(count);
  let at = 0;
  for (let block = 0; block < count; block++) {
    const first = block * FILES_PER_BLOCK;
    const last = Math.min(ends.length, first + FILES_PER_BLOCK) - 1;
    const start = first === 0 ? 0 : ends[first - 1]!;
    for (let i = 0; i < FILES_PER_BLOCK; i++) at = blocks.writeUInt32LE(ends[Math.min(last, first + i)]! - start, at);
    blocks.set(bytes.subarray(start, ends[last]), at);
    endsOfBlocks[block] = at += ends[last]! - start;
  }
  return { bytes: blocks, ends: endsOfBlocks };
}

/** What a queue has in `blobs`: the blocks of its files, then their weights. */
export function blobsOfQueue(queue: string, blocks: Segments, weights: Float64Array): Blobs {
  const { length } = blocks.ends;
  return {
    owner: queue,
    count: length + 1,
    piece: i => (i < length ? { part: i, bytes: segment(blocks, i) } : { part: WEIGHTS, bytes: asBuffer(weights) }),
  };
}

/** The same for another queue with the same files. */
export function copyOfBlobs(store: Parts, from: string, to: string): Blobs {
  const parts = [...store.blobs.getKeys(entriesOf(from))].map(([, part]) => part);
  return {
    owner: to,
    count: parts.length,
    // Should it expire meanwhile, what is put is taken back.
    piece: i => ({ part: parts[i]!, bytes: store.blobs.get([from, parts[i]!]) ?? Buffer.alloc(0) }),
  };
}

/** How many blocks so many files take, and how many a queue has. */
export function blockCount(files: number): number {
  return Math.ceil(files / FILES_PER_BLOCK);
}

export function blocksOfQueue(store: Parts, queue: string): number {
  return store.blobs.getKeysCount({ start: [queue, 0], end: [queue, Infinity] });
}

/** The weights of a queue's files, in their order. */
export function weightsOfQueue(store: Parts, queue: string): Float64Array {
  const weights = store.blobs.get([queue, WEIGHTS])!;
  return new Float64Array(new Uint8Array(weights).buffer, 0, weights.length / Float64Array.BYTES_PER_ELEMENT);
}

function asBuffer({ buffer, byteOffset, byteLength }: Float64Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Bytes of a file in an answer, rarely more; a longer list moves to a larger buffer. */
const BYTES_PER_FILE = 128;
const SLAB_BYTES = 262_144;
/** Lists are cut from a slab, one allocation for a hundred of them: this is what is left of it. */
let slab: Buffer = Buffer.alloc(0);
const BRACKET = 0x5b;

/** Some files of a queue as a JSON array, at least one, between two texts in ASCII. */
export function listOfFiles(store: Parts, queue: string, files: readonly number[], before: string, after: string): Buffer {
  const expected = before.length + after.length + BYTES_PER_FILE * (files.length + 1);
  if (slab.length < expected) slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, expected));
  let list = slab;
  let at = list.write(before, 'latin1');
  let block = -1;
  let bytes!: Buffer;
  for (let i = 0; i < files.length; i++) {
    const first = files[i]!;
    const of = Math.floor(first / FILES_PER_BLOCK);
    if (of !== block) bytes = readBlock(store, queue, (block = of));
    // What follows one another there is taken at once.
    let last = first;
    while (files[i + 1] === last + 1 && (last + 1) % FILES_PER_BLOCK > 0) last = files[++i]!;
    const start = endAt(bytes, (first % FILES_PER_BLOCK) - 1);
    const end = endAt(bytes, last % FILES_PER_BLOCK);
    if (end > bytes.length) throw new Error(`block ${of} of the files of queue ${queue} is damaged`);
    const size = at + end - start + 1 + after.length;
    if (size > list.length) list = Buffer.concat([list.subarray(0, at)], 2 * size);
    at += bytes.copy(list, at, start, end);
  }
  // In place of the comma of the first.
  list[before.length] = BRACKET;
  at += list.write(`]${after}`, at, 'latin1');
  if (list === slab) slab = slab.subarray(at);
  return list.subarray(0, at);
}

/** Some files of a queue, at least one. */
export function filesOf(store: Parts, queue: string, files: readonly number[]): PlannedTestFile[] {
  return JSON.parse(listOfFiles(store, queue, files, '', '').toString()) as PlannedTestFile[];
}

/** Their paths. */
export function pathsOf(store: Parts, queue: string, files: readonly number[]): string[] {
  return filesOf(store, queue, files).map(({ path }) => path);
}

/** The paths of all files of a queue, in order. */
export function allPathsOf(store: Parts, queue: string): string[] {
  return pathsOf(
    store,
    queue,
    Array.from(weightsOfQueue(store, queue), (_, file) => file),
  );
}

/** The nodes of a queue read its blocks one soon after the other, and a block never changes. */
function readBlock({ blobs, blocksRead }: Parts, queue: string, block: number): Buffer {
  const key = `${queue} ${block}`;
  let bytes = blocksRead.get(key);
  if (!bytes) blocksRead.set(key, (bytes = blobs.get([queue, block])!));
  return bytes;
}

function endAt(bytes: Buffer, file: number): number {
  return END * FILES_PER_BLOCK + (file < 0 ? 0 : bytes.readUInt32LE(END * file));
}
