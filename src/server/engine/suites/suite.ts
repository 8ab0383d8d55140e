import { asBuffer, shareBytes, sharedMemory, toSegments } from '../../../base/bytes.js';
import { digestOfSorted, sortedDistinct } from '../../../protocol/list-digest.js';
import { fileOf } from '../../../protocol/test-case.js';
import type { Paths } from '../../planning/estimating/estimate.js';

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
   * Notes of the store that looks up the times of one project: its number of each path (0: the path has none), and at the end the highest
   * number that it had given when it last looked.
   */
  readonly numbers: Uint32Array;
}

/** The text before and after the JSON of a path, without its quotes, in the JSON of a planned file up to its time. */
export const BEFORE_PATH = ',{"path":"';
export const AFTER_PATH = '","time_execution":';
/** A character that JSON.stringify may escape. It copies all others. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** The test files of a project, from which a split or queue is made. */
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
    const { ends } = this.columns;
    const start = file === 0 ? 0 : ends[file - 1]!;
    const content = this.heads.toString('utf8', start + BEFORE_PATH.length, ends[file]! - AFTER_PATH.length);
    return content.includes('\\') ? (JSON.parse(`"${content}"`) as string) : content;
  }

  /** All paths, in their order. */
  strings(): string[] {
    return Array.from({ length: this.length }, (_, file) => this.at(file));
  }

  /** Compares the bytes of the path of a file with those of a file of another suite. 0: the paths are the same. */
  compareBytes(file: number, other: Suite, ofOther: number): number {
    const [ends, otherEnds] = [this.columns.ends, other.columns.ends];
    const start = file === 0 ? 0 : ends[file - 1]!;
    const otherStart = ofOther === 0 ? 0 : otherEnds[ofOther - 1]!;
    return this.heads.compare(other.heads, otherStart, otherEnds[ofOther], start, ends[file]);
  }

  /** The file with a path; undefined: there is none. */
  placeOf(path: string): number | undefined {
    const place = this.indexOf(path);
    return place < this.length && this.at(place) === path ? place : undefined;
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
export function suiteOf(paths: readonly string[]): Suite {
  const sorted = sortedDistinct(paths);
  const heads = toSegments(sorted.map(headOf));
  const ends = new Uint32Array(sharedMemory(heads.ends.byteLength));
  ends.set(heads.ends);
  return new Suite({
    heads: shareBytes(heads.bytes),
    ends,
    digest: digestOfSorted(sorted),
    hasCases: sorted.some(path => fileOf(path) !== null),
    numbers: new Uint32Array(sharedMemory(Uint32Array.BYTES_PER_ELEMENT * (sorted.length + 1))),
  });
}

function headOf(path: string): string {
  return `${BEFORE_PATH}${ESCAPED.test(path) ? JSON.stringify(path).slice(1, -1) : path}${AFTER_PATH}`;
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
