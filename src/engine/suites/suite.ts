import { asBuffer, scratch } from '../../bytes.js';
import { digestOfNames, digestOfSorted } from '../../list-digest.js';
import type { Paths } from '../../planning/estimating/estimate.js';
import { fileOf } from '../../planning/estimating/test-case.js';

/**
 * Distinct paths, sorted by UTF-16 code units, in columns that threads can share. Planning reads numbers and copies bytes; a path becomes a
 * string only where its text matters, because 100,000 strings take longer than their plan.
 */
export interface SuiteColumns {
  /** The JSON of a planned file up to its time, `,{"path":"...","time_execution":`, of each path, end to end in UTF-8. */
  readonly heads: Uint8Array;
  /** The end of each head, in bytes. */
  readonly ends: Uint32Array;
  /** See list-digest.ts. */
  readonly digest: string;
  /** Some paths may name test cases in files. */
  readonly hasCases: boolean;
  /**
   * Notes of the store that looks up their times: its number of each path, 0: it knew none, and at the end the highest number that it had
   * given when it last looked. So these columns are for the paths of one project.
   */
  readonly numbers: Uint32Array;
}

/** Makes memory for columns. */
type Allocate = (bytes: number) => ArrayBufferLike;
const ownMemory: Allocate = bytes => new ArrayBuffer(bytes);

const BACKSLASH = '\\';
/** A character that JSON.stringify may escape. It copies all others. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;
/** The text before and after the JSON of a path, without its quotes, in the JSON of a planned file up to its time. */
const BEFORE = ',{"path":"';
const AFTER = '","time_execution":';
const BETWEEN = Buffer.from(AFTER + BEFORE);
/** The most bytes that a UTF-16 code unit takes in UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

/** The test files of a project that a split or queue is made from. */
export class Suite implements Paths {
  readonly heads: Buffer;

  constructor(readonly columns: SuiteColumns) {
    this.heads = asBuffer(columns.heads);
  }

  get hasCases(): boolean {
    return this.columns.hasCases;
  }

  get length(): number {
    return this.columns.ends.length;
  }

  at(file: number): string {
    return pathIn(this.heads, this.columns.ends, file);
  }

  /** All paths, in their order. */
  strings(): string[] {
    return Array.from({ length: this.length }, (_, file) => this.at(file));
  }

  /** The first file whose path does not sort before a text. */
  indexOf(text: string): number {
    return firstWhere(this.length, file => this.at(file) >= text);
  }

  /** The first and the last + 1 of the files whose paths begin with a text. */
  beginningWith(text: string): [from: number, to: number] {
    const isAfter = (path: string) => path >= text && !path.startsWith(text);
    return [this.indexOf(text), firstWhere(this.length, file => isAfter(this.at(file)))];
  }
}

/** Returns the suite of the paths, which may be unsorted and repeated. A path that is listed twice is run once. */
export function suiteOf(paths: readonly string[], allocate = ownMemory): Suite {
  const sorted = sortedDistinct(paths);
  const ends = new Uint32Array(allocate(Uint32Array.BYTES_PER_ELEMENT * sorted.length));
  const heads = encodeHeads(sorted, ends, allocate);
  const numbers = new Uint32Array(allocate(Uint32Array.BYTES_PER_ELEMENT * (sorted.length + 1)));
  const hasCases = sorted.some(path => fileOf(path) !== null);
  return new Suite({ heads, ends, digest: digestOf(asBuffer(heads), ends), hasCases, numbers });
}

function sortedDistinct(paths: readonly string[]): readonly string[] {
  // Most lists are sorted, and have no path twice.
  const isDistinct = (path: string, i: number, all: readonly string[]) => i === 0 || all[i - 1]! < path;
  if (paths.every(isDistinct)) return paths;
  const sorted = paths.toSorted();
  return sorted.every(isDistinct) ? sorted : sorted.filter(isDistinct);
}

/** Encodes the head of each path, and notes its end. */
function encodeHeads(paths: readonly string[], ends: Uint32Array, allocate: Allocate): Uint8Array {
  const contents = paths.map(jsonContent);
  const units = contents.reduce((sum, { length }) => sum + length, 0);
  // One by one: a text of all contents would be made and copied several times.
  const bytes = scratch(MOST_BYTES_PER_UNIT * units + BETWEEN.length * (contents.length + 1));
  bytes.set(BETWEEN);
  let at = BETWEEN.length;
  for (let file = 0; file < contents.length; file++) {
    at += bytes.write(contents[file]!, at);
    // The bytes begin with an AFTER that the heads lack. So this head ends at this place of the heads.
    ends[file] = at;
    bytes.copyWithin(at, 0, BETWEEN.length);
    at += BETWEEN.length;
  }
  const heads = new Uint8Array(allocate(ends.at(-1) ?? 0));
  heads.set(bytes.subarray(AFTER.length, AFTER.length + heads.length));
  return heads;
}

/** The JSON of a path, without its quotes. */
function jsonContent(path: string): string {
  return ESCAPED.test(path) ? JSON.stringify(path).slice(1, -1) : path;
}

function digestOf(heads: Buffer, ends: Uint32Array): string {
  // Without an escape, the JSON of a path has the bytes of the path.
  if (heads.includes(BACKSLASH)) return digestOfSorted(Array.from(ends, (_, file) => pathIn(heads, ends, file)));
  // The names follow a copy of the heads: within one block a copy takes a fraction of the time.
  const bytes = scratch(2 * heads.length);
  bytes.set(heads);
  let at = heads.length;
  for (let file = 0; file < ends.length; file++) {
    const start = startIn(ends, file) + BEFORE.length;
    const end = ends[file]! - AFTER.length;
    bytes.copyWithin(at, start, end);
    at += end - start;
    bytes[at++] = 0;
  }
  return digestOfNames(bytes.subarray(heads.length, at));
}

function pathIn(heads: Buffer, ends: Uint32Array, file: number): string {
  const content = heads.toString('utf8', startIn(ends, file) + BEFORE.length, ends[file]! - AFTER.length);
  return content.includes(BACKSLASH) ? (JSON.parse(`"${content}"`) as string) : content;
}

function startIn(ends: Uint32Array, file: number): number {
  return file === 0 ? 0 : ends[file - 1]!;
}

/** The first of `count` indices from which on a condition holds; `count`: it never does. */
function firstWhere(count: number, isReached: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
