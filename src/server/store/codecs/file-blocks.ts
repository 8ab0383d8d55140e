import type { Segments } from '../../../base/bytes.js';
import type { Soon } from '../../../base/soon.js';
import { limits } from '../../../protocol/limits.js';
import { memoryBounds } from '../../engine/memory-bounds.js';
import { AFTER_PATH, BEFORE_PATH, type Suite } from '../../engine/suites/suite.js';
import type { PathTimes } from '../../planning/estimating/estimate.js';
import { MAX_SECONDS_BYTES, writeSeconds } from './json-seconds.js';

/**
 * The test files of a plan in blocks, because a request reads adjacent files: of a queue slowest first, of a split node by node. A pull reads
 * one or two blocks, 16 KB each, and a queue puts all of them once, without compression, which would cost the serving thread six times as much
 * as the put. In its place, files share the text of their directories.
 *
 * A block begins with numbers of 4 bytes, little-endian: how many files and directories it has, the places of its directories and their end, the
 * place and the directory of each file, and the end of the files. Then follow the texts. That of a directory begins the JSON of its files,
 * `,{"path":"spec/models/`. That of a file is the rest of its path, its seconds, and their number of digits (1 byte).
 */
const FILES_PER_BLOCK = 256;
const NUMBER = 4;
const HEAD = 2 * NUMBER;
/** Text is copied by four bytes. The copy of the last piece of text reads bytes after it. */
const PADDING = 3;
const SLASH = 0x2f;
const CLOSING_BRACE = 0x7d;
const [OPENING_BRACKET, CLOSING_BRACKET, COMMA] = Buffer.from('[],');

/** The number of blocks of so many files. */
export function blocksFor(files: number): number {
  return Math.ceil(files / FILES_PER_BLOCK);
}

/** The block that has a file of a plan. */
export const blockOf = (file: number) => Math.floor(file / FILES_PER_BLOCK);

/** See Plans.encode. */
export function encodeFiles(files: PathTimes<Suite>, planned?: Uint32Array): Segments {
  const { length } = planned ?? files.order;
  const writer = new BlockWriter(files, planned);
  const ends = new Uint32Array(blocksFor(length));
  for (let block = 0; block < ends.length; block++) {
    writer.write(block * FILES_PER_BLOCK, Math.min(length, (block + 1) * FILES_PER_BLOCK));
    ends[block] = writer.at;
  }
  return { bytes: new Uint8Array(writer.bytes.subarray(0, writer.at)), ends };
}

/** The memory that `scratch` returns again. */
let kept = Buffer.alloc(0);

/**
 * Memory of this thread until it asks again. It has any content. New memory for each plan would take longer than what is written to it:
 * the system maps it page by page.
 */
function scratch(bytes: number): Buffer {
  if (bytes <= kept.length) return kept;
  const memory = Buffer.allocUnsafeSlow(bytes);
  if (bytes <= memoryBounds.scratch) kept = memory;
  return memory;
}

class BlockWriter {
  /** What is written. Valid until the next writer. */
  readonly bytes: Buffer;
  /** The end of what is written. */
  at = 0;
  readonly #view: DataView;
  readonly #heads: DataView;
  readonly #directories: Directories;
  /** The number of each directory in the block that is written; -1: it has no file of the directory yet. */
  readonly #numbers: Int32Array;

  constructor(
    readonly files: PathTimes<Suite>,
    readonly planned?: Uint32Array,
  ) {
    const { heads, length } = files.list;
    const most = heads.length + (MAX_SECONDS_BYTES + 1 + 3 * NUMBER) * length + (HEAD + 2 * NUMBER + PADDING) * blocksFor(length);
    this.bytes = scratch(most);
    this.#view = viewOf(this.bytes);
    this.#heads = viewOf(heads);
    this.#directories = directoriesOf(files.list);
    this.#numbers = new Int32Array(this.#directories.starts.length).fill(-1);
  }

  write(from: number, to: number): void {
    const { files, planned } = this;
    const { order, seconds, list } = files;
    const { ends } = list.columns;
    const { ofFile, starts, lengths } = this.#directories;
    const view = this.#view;
    const heads = this.#heads;
    const start = this.at;
    const used: number[] = [];
    for (let i = from; i < to; i++) {
      const directory = ofFile[order[planned ? planned[i]! : i]!]!;
      if (this.#numbers[directory] === -1) this.#numbers[directory] = used.push(directory) - 1;
    }
    view.setUint32(start, to - from, true);
    view.setUint32(start + NUMBER, used.length, true);
    let numberAt = start + HEAD;
    let at = numberAt + NUMBER * (used.length + 1 + 2 * (to - from) + 1);
    for (const directory of used) {
      view.setUint32(numberAt, at - start, true);
      numberAt += NUMBER;
      at = copy(heads, starts[directory]!, starts[directory]! + lengths[directory]!, view, at);
    }
    view.setUint32(numberAt, at - start, true);
    numberAt += NUMBER;
    for (let i = from; i < to; i++) {
      const place = planned ? planned[i]! : i;
      const file = order[place]!;
      const directory = ofFile[file]!;
      view.setUint32(numberAt, at - start, true);
      view.setUint32(numberAt + NUMBER, this.#numbers[directory]!, true);
      numberAt += 2 * NUMBER;
      at = copy(heads, (file === 0 ? 0 : ends[file - 1]!) + lengths[directory]!, ends[file]! - AFTER_PATH.length, view, at);
      const digitsAt = at;
      at = writeSeconds(this.bytes, seconds[place]!, at);
      this.bytes[at] = at - digitsAt;
      at += 1;
    }
    view.setUint32(numberAt, at - start, true);
    this.at = at + PADDING;
    this.bytes.fill(0, at, this.at);
    for (const directory of used) this.#numbers[directory] = -1;
  }
}

/** The directories of a list, with what is before the path in the JSON of a file. */
interface Directories {
  /** By file. */
  ofFile: Uint32Array;
  /** Where a head begins with the directory. */
  starts: number[];
  lengths: number[];
}

function directoriesOf({ heads, columns: { ends }, length }: Suite): Directories {
  const ofFile = new Uint32Array(length);
  const starts: number[] = [];
  const lengths: number[] = [];
  const known = new Map<string, number>();
  let directory = -1;
  for (let file = 0, start = 0; file < length; start = ends[file++]!) {
    let end = ends[file]! - AFTER_PATH.length;
    while (end > start + BEFORE_PATH.length && heads[end - 1] !== SLASH) end--;
    // In a sorted list it is nearly always that of the file before.
    const isSame = directory >= 0 && heads.compare(heads, starts[directory]!, starts[directory]! + lengths[directory]!, start, end) === 0;
    if (!isSame) {
      const text = heads.toString('latin1', start, end);
      directory = known.get(text) ?? starts.length;
      if (directory === starts.length) {
        known.set(text, directory);
        starts.push(start);
        lengths.push(end - start);
      }
    }
    ofFile[file] = directory;
  }
  return { ofFile, starts, lengths };
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array) => new DataView(buffer as ArrayBuffer, byteOffset, length);

/** Copies a short text in a tenth of the time of a native call, and up to three bytes more. Returns where the text ends. */
function copy(from: DataView, start: number, end: number, to: DataView, at: number): number {
  for (let i = start, j = at; i < end; i += 4, j += 4) to.setInt32(j, from.getInt32(i, true), true);
  return at + end - start;
}

/** Reads a block of a plan by its number; undefined: the plan expired. What is read is valid until the next read. */
export type ReadBlock = (number: number) => Buffer | undefined;

const AFTER = viewOf(Buffer.from(`${AFTER_PATH}   `));
/** Few files take more bytes in a list. A longer list moves to a larger buffer. */
const BYTES_PER_FILE = 128;
const SLAB_BYTES = 262_144;
/** The rest of the slab that lists are cut from. One allocation serves a hundred lists. */
let slab: Buffer = Buffer.alloc(0);

/** Some files of a plan, as a JSON array; null: the plan expired. Throws when a block is damaged. */
export function filesOf(read: ReadBlock, plan: string, files: readonly number[]): Buffer | null {
  const expected = BYTES_PER_FILE * (files.length + 1);
  if (slab.length < expected) slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, expected));
  let bytes = slab;
  let list = viewOf(bytes);
  let at = 0;
  let number = -1;
  let block!: BlockView;
  try {
    for (const file of files) {
      if (blockOf(file) !== number) {
        number = blockOf(file);
        const found = read(number);
        if (!found) return null;
        block = viewBlock(found);
      }
      const { view } = block;
      const { directory, end, start, digits, endOfDigits } = placesOf(block, file % FILES_PER_BLOCK);
      const needed = at + end - directory + endOfDigits - start + AFTER_PATH.length + PADDING + 1;
      if (needed > bytes.length) {
        bytes = Buffer.concat([bytes.subarray(0, at)], 2 * needed);
        list = viewOf(bytes);
      }
      at = copy(view, directory, end, list, at);
      at = copy(view, start, digits, list, at);
      at = copy(AFTER, 0, AFTER_PATH.length, list, at);
      at = copy(view, digits, endOfDigits, list, at);
      list.setUint8(at++, CLOSING_BRACE);
    }
  } catch (error) {
    throw error instanceof RangeError ? new Error(`block ${number} of ${plan} is damaged`, { cause: error }) : error;
  }
  // The bracket takes the place of the comma before the first file.
  bytes[0] = OPENING_BRACKET!;
  at = Math.max(1, at);
  bytes[at++] = CLOSING_BRACKET!;
  if (bytes === slab) slab = slab.length > SLAB_BYTES ? Buffer.alloc(0) : slab.subarray(at);
  return bytes.subarray(0, at);
}

/**
 * The files of a node of a split; null: the split expired, or has no such node. Throws when the ends are damaged.
 *
 * @param ends PlanParts.nodeEnds as they are stored
 */
export function filesOfNode(ends: Buffer | undefined, split: string, node: number): number[] | null {
  if (!ends || NUMBER * (node + 1) > ends.length) return null;
  const start = node === 0 ? 0 : ends.readUInt32LE(NUMBER * (node - 1));
  const end = ends.readUInt32LE(NUMBER * node);
  if (end < start || end - start > limits.testFilesPerRequest) throw new Error(`the ends of the nodes of ${split} are damaged`);
  const files: number[] = [];
  for (let file = start; file < end; file++) files.push(file);
  return files;
}

/** Files that are listed in one turn of the event loop: less than a millisecond. */
const FILES_PER_TURN = 4096;

/** As `filesOf`, in several turns if the files are many. */
export function filesInTurns(read: ReadBlock, plan: string, files: readonly number[], turn: () => Promise<unknown>): Soon<Buffer | null> {
  return files.length <= FILES_PER_TURN ? filesOf(read, plan, files) : listInTurns(read, plan, files, turn);
}

async function listInTurns(read: ReadBlock, plan: string, files: readonly number[], turn: () => Promise<unknown>): Promise<Buffer | null> {
  const lists: Buffer[] = [];
  for (let from = 0; from < files.length; from += FILES_PER_TURN) {
    if (from > 0) await turn();
    const list = filesOf(read, plan, files.slice(from, from + FILES_PER_TURN));
    if (!list) return null;
    // A comma takes the place of the bracket before the next list.
    if (from > 0) list[0] = COMMA!;
    lists.push(from + FILES_PER_TURN < files.length ? list.subarray(0, -1) : list);
  }
  return Buffer.concat(lists);
}

interface BlockView {
  view: DataView;
  files: number;
  /** Where the places of the files begin. */
  filesAt: number;
}

/** Throws a RangeError when the block is damaged. */
function viewBlock(bytes: Buffer): BlockView {
  const view = viewOf(bytes);
  const files = view.getUint32(0, true);
  const filesAt = HEAD + NUMBER * (view.getUint32(NUMBER, true) + 1);
  const endAt = filesAt + 2 * NUMBER * files;
  if (endAt + NUMBER > view.byteLength || view.getUint32(endAt, true) + PADDING !== view.byteLength) throw new RangeError('no end');
  return { view, files, filesAt };
}

/** Where the texts of a file and of its directory begin and end. Throws a RangeError when the block is damaged. */
function placesOf({ view, files, filesAt }: BlockView, file: number) {
  const placeAt = filesAt + 2 * NUMBER * file;
  const directoryAt = HEAD + NUMBER * view.getUint32(placeAt + NUMBER, true);
  const directory = view.getUint32(directoryAt, true);
  const end = view.getUint32(directoryAt + NUMBER, true);
  const start = view.getUint32(placeAt, true);
  const endOfDigits = view.getUint32(placeAt + 2 * NUMBER, true) - 1;
  const digits = endOfDigits - view.getUint8(endOfDigits);
  const isInTables = file < files && directoryAt + NUMBER < filesAt;
  const isSound = isInTables && filesAt + 2 * NUMBER * files < directory && directory <= end && end <= start && start <= digits;
  if (!isSound) throw new RangeError(`no file ${file}`);
  return { directory, end, start, digits, endOfDigits };
}
