import { asBuffer, type Segments, segment } from '../../../bytes.js';
import type { NewQueue } from '../../../engine/ports/queues.js';
import { refusals } from '../../../engine/refusal.js';
import type { Suite } from '../../../engine/suites/suite.js';
import type { PathTimes } from '../../../planning/estimating/estimate.js';
import { type Blob, type BlobParts, type Blobs, blobStepOf, piecesPerBlob, readBlob, readBlobAgain } from '../writes/blobs.js';
import { PlannedFileWriter } from './planned-files.js';

/**
 * The test files of a queue, slowest first, each as JSON with a comma before it. They are stored in blocks, because a pull reads the
 * files of one batch, which are adjacent. A block is the ends of its files (4 bytes each, little-endian, from the end of this
 * table), then the text. It has 64 files, or a multiple of that in a large queue. Its key is the number of its first file / 64, so the second
 * key tells the size.
 */
const FILES_PER_KEY = 64;
const END = 4;
const WEIGHTS = 'weights';
export const BASIS = 'basis';

export function encodeFileBlocks(files: PathTimes<Suite>): Segments {
  const { length } = files.order;
  const filesPerBlock = FILES_PER_KEY * keyStep(length);
  const ends = new Uint32Array(Math.ceil(length / filesPerBlock));
  const writer = new PlannedFileWriter(files, END * filesPerBlock * ends.length);
  const { at: begin, bytes } = writer;
  for (let block = 0; block < ends.length; block++) {
    let endAt = writer.at;
    const start = (writer.at += END * filesPerBlock);
    const first = block * filesPerBlock;
    for (let planned = first; planned < first + filesPerBlock; planned++) {
      if (planned < length) writer.write(planned);
      endAt = bytes.writeUInt32LE(writer.at - start, endAt);
    }
    ends[block] = writer.at - begin;
  }
  return { bytes: new Uint8Array(bytes.subarray(begin, writer.at)), ends };
}

/** The blobs of a queue: the blocks of its files, then their weights and the basis of these. */
export function blobsOfQueue({ files, weights, basis }: Pick<NewQueue, 'files' | 'weights' | 'basis'>): Blobs {
  const { length } = files.ends;
  const step = keyStep(weights.length);
  const last: Blob[] = [
    { part: WEIGHTS, bytes: asBuffer(weights) },
    { part: BASIS, bytes: asBuffer(basis) },
  ];
  return { count: length + last.length, blob: i => last[i - length] ?? { part: step * i, bytes: segment(files, i) } };
}

/** The difference between the keys of the blocks of a new queue. */
function keyStep(files: number): number {
  return piecesPerBlob(Math.ceil(files / FILES_PER_KEY), files);
}

/** How many blocks a queue has, and how many it should have. */
export function blocksOfQueue(parts: BlobParts, queue: string, files: number): { found: number; expected: number } {
  const found = parts.blobs.getKeysCount({ start: [queue, 0], end: [queue, Infinity] });
  return { found, expected: Math.ceil(files / (FILES_PER_KEY * blobStepOf(parts, queue))) };
}

/** The weights of a queue's files, in their order. */
export function weightsOfQueue(parts: BlobParts, queue: string): Float64Array {
  const weights = readBlob(parts, queue, WEIGHTS)!;
  return new Float64Array(new Uint8Array(weights).buffer, 0, weights.length / Float64Array.BYTES_PER_ELEMENT);
}

/** Few files take more bytes in a list. A longer list moves to a larger buffer. */
const BYTES_PER_FILE = 128;
const SLAB_BYTES = 262_144;
/** The rest of the slab that lists are cut from. One allocation serves a hundred lists. */
let slab: Buffer = Buffer.alloc(0);
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

/** Some files of a queue, at least one, as a JSON array. Throws a 503 when the queue expired. */
export function readFiles(parts: BlobParts, queue: string, files: readonly number[]): Buffer {
  const filesPerBlock = FILES_PER_KEY * blobStepOf(parts, queue);
  const expected = BYTES_PER_FILE * (files.length + 1);
  if (slab.length < expected) slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, expected));
  let list = slab;
  let at = 0;
  let block = -1;
  let bytes!: Buffer;
  for (let i = 0; i < files.length; i++) {
    const first = files[i]!;
    const begin = first - (first % filesPerBlock);
    if (begin !== block) bytes = readBlock(parts, queue, (block = begin) / FILES_PER_KEY);
    // Adjacent files are copied at once.
    let last = first;
    while (files[i + 1] === last + 1 && (last + 1) % filesPerBlock > 0) last = files[++i]!;
    const start = endAt(bytes, first - begin - 1, filesPerBlock);
    const end = endAt(bytes, last - begin, filesPerBlock);
    if (end > bytes.length) throw new Error(`the block of file ${block} of queue ${queue} is damaged`);
    const size = at + end - start + 1;
    if (size > list.length) list = Buffer.concat([list.subarray(0, at)], 2 * size);
    at += bytes.copy(list, at, start, end);
  }
  // The bracket replaces the comma before the first file.
  list[0] = OPENING_BRACKET;
  list[at++] = CLOSING_BRACKET;
  if (list === slab) slab = slab.subarray(at);
  return list.subarray(0, at);
}

function readBlock(parts: BlobParts, queue: string, key: number): Buffer {
  const bytes = readBlobAgain(parts, queue, key);
  if (!bytes) throw refusals.expired('queue');
  return bytes;
}

/** Where a file of a block ends; of the file before the first, where the text begins. */
function endAt(bytes: Buffer, file: number, filesPerBlock: number): number {
  return END * filesPerBlock + (file < 0 ? 0 : bytes.readUInt32LE(END * file));
}
