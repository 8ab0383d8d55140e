import { asBuffer, type Segments, segment } from '../../../bytes.js';
import type { NewQueue } from '../../../engine/ports/queues.js';
import type { NewSplit } from '../../../engine/ports/splits.js';
import type { Suite } from '../../../engine/suites/suite.js';
import type { PathTimes } from '../../../planning/estimating/estimate.js';
import type { Tables } from '../tables.js';
import { type Blob, type BlobParts, readBlob } from '../writes/blobs.js';
import { PlannedFileWriter } from './planned-files.js';
import { copyOf } from './run-times.js';

/**
 * The test files of a queue, slowest first, or of a split, node by node, each as JSON with a comma before it. They are stored in blocks,
 * because a request reads adjacent files. A block is the place of each of its files and of the end (4 bytes each, little-endian), then the
 * text: its first place tells how many files it has.
 */
const PLACE = 4;
/**
 * A block is read as a whole, which takes a pull 15 us for 64 files and 200 us for 512. But a put takes the serving thread 25 us however
 * small it is, so the blocks of a large suite have more files.
 */
const LEAST_PER_BLOCK = 64;
const MOST_PER_BLOCK = 1024;
const FEW_BLOCKS = 16;

/** How many files of a list go to each block. */
function filesPerBlockOf(files: number): number {
  return Math.min(MOST_PER_BLOCK, Math.max(LEAST_PER_BLOCK, Math.ceil(files / FEW_BLOCKS)));
}

/** How many files each block of a split or queue has, but for the last one; null: it expired. */
function filesPerBlock(parts: BlobParts, owner: string): number | null {
  const known = parts.blockSizes.get(owner);
  if (known !== undefined) return known;
  const block = readBlob(parts, owner, 0);
  if (!block) return null;
  const size = block.readUInt32LE() / PLACE - 1;
  if (!(size >= 1 && Number.isInteger(size))) throw new Error(`the block of file 0 of ${owner} is damaged`);
  parts.blockSizes.set(owner, size);
  return size;
}

/** The other blobs: the weights of a queue, the end of the files of each node of a split, and what the estimates rest on. */
const WEIGHTS = 'weights';
const NODES = 'nodes';
export const BASIS = 'basis';

/** @param order the files as indices into the plan; missing: in the order of the plan */
export function encodeFileBlocks(files: PathTimes<Suite>, order?: readonly number[]): Segments {
  const { length } = files.order;
  const size = filesPerBlockOf(length);
  const ends = new Uint32Array(Math.ceil(length / size));
  const writer = new PlannedFileWriter(files, PLACE * (length + ends.length));
  const { at: begin, bytes } = writer;
  for (let block = 0; block < ends.length; block++) {
    const first = block * size;
    const last = Math.min(length, first + size);
    const start = writer.at;
    writer.at += PLACE * (last - first + 1);
    let placeAt = bytes.writeUInt32LE(writer.at - start, start);
    for (let file = first; file < last; file++) {
      writer.write(order ? order[file]! : file);
      placeAt = bytes.writeUInt32LE(writer.at - start, placeAt);
    }
    ends[block] = writer.at - begin;
  }
  return { bytes: new Uint8Array(bytes.subarray(begin, writer.at)), ends };
}

export function blobsOfQueue({ files, weights, basis }: Pick<NewQueue, 'files' | 'weights' | 'basis'>): Blob[] {
  return [...blocksIn(files), { part: WEIGHTS, bytes: asBuffer(weights) }, { part: BASIS, bytes: asBuffer(basis) }];
}

export function blobsOfSplit({ files, nodeEnds, basis }: Pick<NewSplit, 'files' | 'nodeEnds' | 'basis'>): Blob[] {
  return [...blocksIn(files), { part: NODES, bytes: asBuffer(nodeEnds) }, { part: BASIS, bytes: asBuffer(basis) }];
}

function blocksIn(files: Segments): Blob[] {
  return Array.from(files.ends, (_, part) => ({ part, bytes: segment(files, part) }));
}

/** How many blocks a split or queue has, and how many it should have. */
export function blocksOf({ blobs }: Pick<Tables, 'blobs'>, owner: string, files: number): { found: number; expected: number } {
  const found = blobs.getKeysCount({ start: [owner, 0], end: [owner, Infinity] });
  return { found, expected: Math.ceil(files / filesPerBlockOf(files)) };
}

/** The weights of a queue's files, in their order. */
export function weightsOfQueue({ blobs }: Pick<Tables, 'blobs'>, queue: string): Float64Array {
  const weights = blobs.get([queue, WEIGHTS])!;
  return new Float64Array(copyOf(weights), 0, Math.floor(weights.length / Float64Array.BYTES_PER_ELEMENT));
}

const { BYTES_PER_ELEMENT: BYTES_PER_END } = Uint32Array;

/** The files of a node of a split, as a JSON array; null: the split expired, or has no such node. */
export function filesOfNode(parts: BlobParts, split: string, node: number): Buffer | null {
  const ends = readBlob(parts, split, NODES);
  if (!ends || BYTES_PER_END * node >= ends.length) return null;
  const files: number[] = [];
  const end = ends.readUInt32LE(BYTES_PER_END * node);
  for (let file = node === 0 ? 0 : ends.readUInt32LE(BYTES_PER_END * (node - 1)); file < end; file++) files.push(file);
  return readFiles(parts, split, files);
}

/** Few files take more bytes in a list. A longer list moves to a larger buffer. */
const BYTES_PER_FILE = 128;
const SLAB_BYTES = 262_144;
/** The rest of the slab that lists are cut from. One allocation serves a hundred lists. */
let slab: Buffer = Buffer.alloc(0);
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

/** Some files of a split or queue, as a JSON array; null: it expired. */
export function readFiles(parts: BlobParts, owner: string, files: readonly number[]): Buffer | null {
  const size = filesPerBlock(parts, owner);
  if (size === null) return null;
  const expected = BYTES_PER_FILE * (files.length + 1);
  if (slab.length < expected) slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, expected));
  let list = slab;
  let at = 0;
  let block = -1;
  let bytes: Buffer | undefined;
  for (let i = 0; i < files.length; i++) {
    const first = files[i]!;
    const begin = first - (first % size);
    if (begin !== block) bytes = readBlob(parts, owner, (block = begin) / size);
    if (!bytes) return null;
    // Adjacent files are copied at once.
    let last = first;
    while (files[i + 1] === last + 1 && (last + 1) % size > 0) last = files[++i]!;
    const start = bytes.readUInt32LE(PLACE * (first - begin));
    const end = bytes.readUInt32LE(PLACE * (last - begin + 1));
    if (end > bytes.length) throw new Error(`the block of file ${block} of ${owner} is damaged`);
    const needed = at + end - start + 1;
    if (needed > list.length) list = Buffer.concat([list.subarray(0, at)], 2 * needed);
    at += bytes.copy(list, at, start, end);
  }
  // The bracket takes the place of the comma before the first file.
  list[0] = OPENING_BRACKET;
  if (at === 0) at = 1;
  list[at++] = CLOSING_BRACKET;
  if (list === slab) slab = slab.subarray(at);
  return list.subarray(0, at);
}
