import type { Segments } from '../../../base/bytes.js';
import type { Suite } from '../../engine/suites/suite.js';
import type { PathTimes } from '../../planning/estimating/estimate.js';
import { PlannedFileWriter } from './planned-files.js';

/**
 * The test files of a plan, in pieces: of a queue, each file as JSON with a comma before it, slowest first; of a split, the files of each
 * node as a JSON array. They are stored in blocks, because a request reads adjacent pieces. A block is the place of each of its pieces and
 * of the end (4 bytes each, little-endian), then the text: its first place tells how many pieces it has.
 */
const PLACE = 4;
/**
 * The number of files of a block. A block is read as a whole, which takes a pull 22 us for 128 files and 80 us for 512. But a put takes the serving
 * thread 25 us however small it is, so the blocks of a large suite have more files.
 */
const LEAST_PER_BLOCK = 128;
const MOST_PER_BLOCK = 1024;
const FEW_BLOCKS = 16;

function filesPerBlock(files: number): number {
  return Math.min(MOST_PER_BLOCK, Math.max(LEAST_PER_BLOCK, Math.ceil(files / FEW_BLOCKS)));
}

const [OPENING_BRACKET, CLOSING_BRACKET] = Buffer.from('[]');

/** The blocks of a queue. */
export function encodeQueueFiles(files: PathTimes<Suite>): Segments {
  const { length } = files.order;
  return encodeBlocks(files, length, filesPerBlock(length), (writer, file) => writer.write(file));
}

/**
 * The blocks of a split.
 *
 * @param nodes the files of each node, as indices into the plan
 */
export function encodeSplitFiles(files: PathTimes<Suite>, nodes: readonly (readonly number[])[]): Segments {
  const { length } = files.order;
  const nodesPerBlock = Math.ceil((filesPerBlock(length) * nodes.length) / Math.max(1, length));
  return encodeBlocks(files, nodes.length, nodesPerBlock, (writer, node) => {
    const start = writer.at;
    for (const file of nodes[node]!) writer.write(file);
    // The bracket takes the place of the first comma.
    if (writer.at === start) writer.at += 1;
    writer.bytes[start] = OPENING_BRACKET!;
    writer.bytes[writer.at++] = CLOSING_BRACKET!;
  });
}

function encodeBlocks(
  files: PathTimes<Suite>,
  pieces: number,
  size: number,
  write: (writer: PlannedFileWriter, piece: number) => void,
): Segments {
  const ends = new Uint32Array(Math.ceil(pieces / size));
  const writer = new PlannedFileWriter(files, (PLACE + 2) * pieces + PLACE * ends.length);
  const { at: begin, bytes } = writer;
  for (let block = 0; block < ends.length; block++) {
    const first = block * size;
    const last = Math.min(pieces, first + size);
    const start = writer.at;
    writer.at += PLACE * (last - first + 1);
    let placeAt = bytes.writeUInt32LE(writer.at - start, start);
    for (let piece = first; piece < last; piece++) {
      write(writer, piece);
      placeAt = bytes.writeUInt32LE(writer.at - start, placeAt);
    }
    ends[block] = writer.at - begin;
  }
  return { bytes: new Uint8Array(bytes.subarray(begin, writer.at)), ends };
}

/** The number of blocks of the files of a queue. */
export function blocksFor(files: number): number {
  return Math.ceil(files / filesPerBlock(files));
}

/** Reads a block of a plan by its number; undefined: the plan expired. */
export type ReadBlock = (number: number) => Buffer | undefined;

/** The number of files in each block of a plan, but for the last one; null: the plan expired. */
export function piecesPerBlock(read: ReadBlock, plan: string): number | null {
  const block = read(0);
  return block ? piecesIn(block, `block 0 of ${plan}`) : null;
}

function piecesIn(block: Buffer, name: string): number {
  const textAt = block.readUInt32LE();
  const pieces = textAt / PLACE - 1;
  if (!(pieces >= 1 && Number.isInteger(pieces) && textAt <= block.length)) throw new Error(`${name} is damaged`);
  return pieces;
}

/** The files of a node of a split, as a JSON array; null: the split expired, or has no such node. */
export function filesOfNode(read: ReadBlock, split: string, node: number): Buffer | null {
  const size = piecesPerBlock(read, split);
  if (size === null) return null;
  const number = Math.floor(node / size);
  const block = read(number);
  const at = node % size;
  const name = `block ${number} of ${split}`;
  if (!block || at >= piecesIn(block, name)) return null;
  const end = block.readUInt32LE(PLACE * (at + 1));
  if (end > block.length) throw new Error(`${name} is damaged`);
  return block.subarray(block.readUInt32LE(PLACE * at), end);
}

/** Few files take more bytes in a list. A longer list moves to a larger buffer. */
const BYTES_PER_FILE = 128;
const SLAB_BYTES = 262_144;
/** The rest of the slab that lists are cut from. One allocation serves a hundred lists. */
let slab: Buffer = Buffer.alloc(0);

/** Some files of a queue, at least one, as a JSON array; null: the queue expired. */
export function filesOfQueue(read: ReadBlock, queue: string, files: readonly number[]): Buffer | null {
  const size = piecesPerBlock(read, queue);
  if (size === null) return null;
  const expected = BYTES_PER_FILE * (files.length + 1);
  if (slab.length < expected) slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, expected));
  let list = slab;
  let at = 0;
  let number = -1;
  let block: Buffer | undefined;
  for (let i = 0; i < files.length; i++) {
    const first = files[i]!;
    const begin = first - (first % size);
    if (begin !== size * number) block = read((number = begin / size));
    if (!block) return null;
    // Adjacent files are copied at once.
    let last = first;
    while (files[i + 1] === last + 1 && (last + 1) % size > 0) last = files[++i]!;
    const start = block.readUInt32LE(PLACE * (first - begin));
    const end = block.readUInt32LE(PLACE * (last - begin + 1));
    if (end > block.length) throw new Error(`block ${number} of ${queue} is damaged`);
    const needed = at + end - start + 1;
    if (needed > list.length) list = Buffer.concat([list.subarray(0, at)], 2 * needed);
    at += block.copy(list, at, start, end);
  }
  // The bracket takes the place of the comma before the first file.
  list[0] = OPENING_BRACKET!;
  list[at++] = CLOSING_BRACKET!;
  if (list === slab) slab = slab.subarray(at);
  return list.subarray(0, at);
}
