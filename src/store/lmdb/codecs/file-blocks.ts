import { apiErrors } from '../../../api-error.js';
import { asBuffer } from '../../../bytes.js';
import type { NewQueue } from '../../../engine/ports/queues.js';
import { type Segments, segment } from '../../../engine/segments.js';
import type { PathTimes } from '../../../planning/estimating/estimate.js';
import { ownerOfFiles } from '../shared-files.js';
import { type Blob, type BlobParts, type Blobs, readBlob, readBlobAgain } from '../writes/blobs.js';
import { PlannedFileWriter } from './planned-files.js';

/**
 * The test files of a queue, slowest first, each as JSON with a comma before it. They are stored in blocks, because a pull reads the
 * files of one batch, which are adjacent. A block is the ends of its files (4 bytes each, little-endian, from the end of this
 * table), then the text.
 */
const FILES_PER_BLOCK = 64;
const END = 4;
const WEIGHTS = 'weights';
export const BASIS = 'basis';

export function encodeFileBlocks(files: PathTimes): Segments {
  const { length } = files.order;
  const ends = new Uint32Array(blockCount(length));
  const writer = new PlannedFileWriter(files, END * FILES_PER_BLOCK * ends.length);
  const { at: begin, bytes } = writer;
  for (let block = 0; block < ends.length; block++) {
    let endAt = writer.at;
    const start = (writer.at += END * FILES_PER_BLOCK);
    const first = block * FILES_PER_BLOCK;
    for (let planned = first; planned < first + FILES_PER_BLOCK; planned++) {
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
  const last: Blob[] = [
    { part: WEIGHTS, bytes: asBuffer(weights) },
    { part: BASIS, bytes: asBuffer(basis) },
  ];
  return { count: length + last.length, blob: i => last[i - length] ?? { part: i, bytes: segment(files, i) } };
}

export function blockCount(files: number): number {
  return Math.ceil(files / FILES_PER_BLOCK);
}

/** How many blocks a queue has. */
export function blocksOfQueue(parts: BlobParts, queue: string): number {
  const owner = ownerOfFiles(parts, queue);
  return parts.blobs.getKeysCount({ start: [owner, 0], end: [owner, Infinity] });
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
  const expected = BYTES_PER_FILE * (files.length + 1);
  if (slab.length < expected) slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, expected));
  let list = slab;
  let at = 0;
  let block = -1;
  let bytes!: Buffer;
  for (let i = 0; i < files.length; i++) {
    const first = files[i]!;
    const holder = Math.floor(first / FILES_PER_BLOCK);
    if (holder !== block) bytes = readBlock(parts, queue, (block = holder));
    // Adjacent files are copied at once.
    let last = first;
    while (files[i + 1] === last + 1 && (last + 1) % FILES_PER_BLOCK > 0) last = files[++i]!;
    const start = endAt(bytes, (first % FILES_PER_BLOCK) - 1);
    const end = endAt(bytes, last % FILES_PER_BLOCK);
    if (end > bytes.length) throw new Error(`block ${block} of the files of queue ${queue} is damaged`);
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

function readBlock(parts: BlobParts, queue: string, block: number): Buffer {
  const bytes = readBlobAgain(parts, queue, block);
  if (!bytes) throw apiErrors.expired('queue');
  return bytes;
}

function endAt(bytes: Buffer, file: number): number {
  return END * FILES_PER_BLOCK + (file < 0 ? 0 : bytes.readUInt32LE(END * file));
}
