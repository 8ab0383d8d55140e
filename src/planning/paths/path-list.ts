import { digestOfSorted } from '../../list-digest.js';
import { fileOf } from '../estimating/test-case.js';
import { AFTER, BEFORE } from './head.js';

/**
 * Distinct paths, sorted by UTF-16 code units, in columns that threads can share. Planning reads numbers and copies bytes; a path becomes a
 * string only where its text matters, because 100,000 strings take longer than their plan.
 */
export interface PathColumns {
  /** The JSON of a planned file up to its time, `,{"path":"...","time_execution":`, of each path, end to end in UTF-8. */
  readonly heads: Uint8Array;
  /** The end of each head, in bytes. */
  readonly ends: Uint32Array;
  /** See list-digest.ts. */
  readonly digest: string;
  /** Some paths name test cases in files. */
  readonly hasCases: boolean;
  /**
   * Notes of the store that looks up their times: its number of each path, 0: it knew none, and at the end the highest number that it had
   * given when it last looked. So these columns are for the paths of one project.
   */
  readonly numbers: Uint32Array;
}

/** Makes memory for columns. */
export type Allocate = (bytes: number) => ArrayBufferLike;
const ownMemory: Allocate = bytes => new ArrayBuffer(bytes);

const [NEWLINE, COMMA] = Buffer.from('\n,');

export class PathList {
  readonly #heads: Buffer;

  constructor(readonly columns: PathColumns) {
    const { buffer, byteOffset, length } = columns.heads;
    this.#heads = Buffer.from(buffer as ArrayBuffer, byteOffset, length);
  }

  get length(): number {
    return this.columns.ends.length;
  }

  at(file: number): string {
    const { ends } = this.columns;
    const start = (file === 0 ? 0 : ends[file - 1]!) + BEFORE.length;
    return JSON.parse(this.#heads.toString('utf8', start, ends[file]! - AFTER.length)) as string;
  }

  /** All paths, in their order. */
  strings(): string[] {
    return Array.from({ length: this.length }, (_, file) => this.at(file));
  }

  /** The first file whose path does not sort before a text. */
  indexOf(text: string): number {
    return this.#firstWhere(path => path >= text);
  }

  /** The first and the last + 1 of the files whose paths begin with a text. */
  beginningWith(text: string): [from: number, to: number] {
    return [this.indexOf(text), this.#firstWhere(path => path >= text && !path.startsWith(text))];
  }

  #firstWhere(isReached: (path: string) => boolean): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isReached(this.at(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Returns the list of the paths, which may be unsorted and repeated. */
export function pathList(paths: readonly string[], allocate = ownMemory): PathList {
  const sorted = sortedDistinct(paths);
  const ends = new Uint32Array(allocate(Uint32Array.BYTES_PER_ELEMENT * sorted.length));
  const encoded = encodeHeads(sorted, ends);
  const heads = new Uint8Array(allocate(encoded.length));
  heads.set(encoded);
  const numbers = new Uint32Array(allocate(Uint32Array.BYTES_PER_ELEMENT * (sorted.length + 1)));
  const hasCases = sorted.some(path => fileOf(path) !== null);
  return new PathList({ heads, ends, digest: digestOfSorted(sorted), hasCases, numbers });
}

function sortedDistinct(paths: readonly string[]): readonly string[] {
  // Most lists are sorted, and have no path twice.
  const isDistinct = (path: string, i: number, all: readonly string[]) => i === 0 || all[i - 1]! < path;
  if (paths.every(isDistinct)) return paths;
  const sorted = paths.toSorted();
  return sorted.every(isDistinct) ? sorted : sorted.filter(isDistinct);
}

/** Encodes the head of each path, and notes its end. */
function encodeHeads(paths: readonly string[], ends: Uint32Array): Uint8Array {
  // One call encodes all strings. A newline separates them, because within a JSON string it is escaped.
  const json = Buffer.from(JSON.stringify(paths, null, '\n'));
  const heads = Buffer.allocUnsafeSlow(json.length + (BEFORE.length + AFTER.length) * paths.length);
  let at = 0;
  // The list begins with `[\n\n`. Its entries end with `,\n\n`, the last with `\n]`.
  for (let file = 0, from = 3; file < paths.length; file++, from += 2) {
    for (let i = 0; i < BEFORE.length; i++) heads[at++] = BEFORE[i]!;
    for (let byte = json[from]!; byte !== NEWLINE; byte = json[++from]!) heads[at++] = byte;
    if (heads[at - 1] === COMMA) at -= 1;
    for (let i = 0; i < AFTER.length; i++) heads[at++] = AFTER[i]!;
    ends[file] = at;
  }
  return heads.subarray(0, at);
}
