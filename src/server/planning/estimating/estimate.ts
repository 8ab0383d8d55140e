import { fileOf } from '../../../protocol/test-case.js';
import { toWeight } from '../weight.js';
import { BASIS_BYTES, type Basis, codeOf, setBasis } from './basis.js';
import { Guesses } from './guesses.js';

/** The distinct paths of a suite, sorted by UTF-16 code units. */
export interface Paths {
  readonly length: number;
  /** Some may name test cases in files. */
  readonly hasCases: boolean;
  at(file: number): string;
  /** The first and the last + 1 of those that begin with a text. */
  beginningWith(text: string): [from: number, to: number];
}

/** The kind of plan that a suite is for. */
export type Mode = 'queue' | 'split';

/** The files of a request in planning order: slowest first. Columns, because objects take twice as long. */
export interface Estimates<List extends Paths = Paths> extends PathTimes<List> {
  /** The durations to plan with, guesses included (see weight.ts). */
  weights: Float64Array;
  /** The basis of the estimates. */
  basis: Basis;
}

/** The files of a list in planning order. */
export interface PathTimes<List extends Paths = Paths> {
  list: List;
  /** The files, as indices into the list. */
  order: Uint32Array;
  /** The measured durations in planning order; NaN when neither the path nor, for a test case, its file was ever measured. */
  seconds: Float64Array;
}

/** The measured durations of the paths of a list, in seconds. */
export interface MeasuredTimes {
  /** In the order of the list; NaN: the path was never measured. */
  seconds: Float64Array;
  /** The basis of the measured durations. */
  basis: Basis;
  /** The durations of whole files, for those of their test cases that were never measured. */
  files: ReadonlyMap<string, number>;
}

/**
 * A new file is expected to take as long as this percentile of the measured files: underestimating costs more than overestimating.
 * A queue has a higher percentile: it hands out slow files early, when later batches can still make up for a wrong guess.
 */
const GUESS_PERCENTILES: Record<Mode, number> = { split: 0.75, queue: 0.9 };
/**
 * A test case that was never measured takes at least this part of the mean duration of its file's cases, even when the measured cases add
 * up to the whole file.
 */
const MIN_CASE_PART = 0.1;

const OF_FILE = codeOf('file');

/**
 * Equal files are in the order of their paths. In a queue that is mostly guessed they are scattered: the files of a directory are alike,
 * and a batch of neighbours would tell nothing of the others.
 *
 * @param sizes of the files in bytes, in the order of the list, as far as they are known
 */
export function estimate<List extends Paths>(
  list: List,
  measured: MeasuredTimes,
  mode: Mode,
  sizes: readonly number[] = [],
): Estimates<List> {
  const basis = measured.basis.slice();
  const seconds = withShares(list, measured, basis);
  const guesses = new Guesses(list, seconds, GUESS_PERCENTILES[mode], sizes);
  const weights = new Float64Array(seconds.length);
  for (let file = 0; file < seconds.length; file++) {
    const time = seconds[file]!;
    weights[file] = toWeight(Number.isNaN(time) ? guesses.guess(file, basis) : time);
  }
  const order = slowestFirst(weights, mode === 'queue' && isMostlyGuessed(seconds) ? scatterStep(weights.length) : 1);
  return { list, order, seconds: inOrder(seconds, order), weights: inOrder(weights, order), basis: basisInOrder(basis, order) };
}

/** Returns the number of files that were never measured. */
export function unknownFiles(seconds: Float64Array): number {
  let count = 0;
  for (let file = 0; file < seconds.length; file++) if (Number.isNaN(seconds[file])) count += 1;
  return count;
}

/** Tells whether most of these files were never measured. */
export function isMostlyGuessed(seconds: Float64Array): boolean {
  return unknownFiles(seconds) > seconds.length / 2;
}

/** The path of a planned file. */
export function pathOf({ list, order }: Pick<PathTimes, 'list' | 'order'>, planned: number): string {
  return list.at(order[planned]!);
}

function basisInOrder(basis: Basis, order: Uint32Array): Basis {
  const ordered = new Uint8Array(basis.length);
  let at = 0;
  for (let i = 0; i < order.length; i++) {
    const start = BASIS_BYTES * order[i]!;
    for (let part = 0; part < BASIS_BYTES; part++) ordered[at++] = basis[start + part]!;
  }
  return ordered;
}

function inOrder(values: Float64Array, order: Uint32Array): Float64Array {
  const ordered = new Float64Array(order.length);
  for (let i = 0; i < order.length; i++) ordered[i] = values[order[i]!]!;
  return ordered;
}

/** More than a list has files. A weight times this number is below 2^53, so that a sum with a file's index is exact. */
const MOST_FILES = 2 ** 18;

/**
 * Returns the files by weight in descending order. The list is sorted by path, so equal ones keep its order, or are taken from it in steps of
 * this size, modulo its length. A key is a weight and a place: numbers are sorted in a third of the time that a comparison function takes.
 */
function slowestFirst(weights: Float64Array, step: number): Uint32Array {
  const { length } = weights;
  const fileAt = (place: number) => (place * step) % length;
  const keys = weights.map((_, place) => place - weights[fileAt(place)]! * MOST_FILES).sort();
  return new Uint32Array(keys.map(key => fileAt(key + Math.ceil(-key / MOST_FILES) * MOST_FILES)));
}

/** Multiples of this part of a whole spread evenly over it (Weyl). */
export const GOLDEN_RATIO = 0.618034;

/** A step through a list of this length, modulo the length, that comes to each file once. */
function scatterStep(length: number): number {
  let step = Math.max(1, Math.round(GOLDEN_RATIO * length));
  while (commonDivisor(step, length) > 1) step += 1;
  return step;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** Returns the measured durations. A test case that was never measured gets a share of the duration of its file, and the basis notes that. */
function withShares(list: Paths, { seconds, files }: MeasuredTimes, basis: Basis): Float64Array {
  if (files.size === 0) return seconds;
  const shared = seconds.slice();
  for (const [path, whole] of files) {
    const cases = casesOf(list, path);
    const unmeasured = cases.filter(file => Number.isNaN(seconds[file]));
    const measured = cases.reduce((sum, file) => sum + (Number.isNaN(seconds[file]) ? 0 : seconds[file]!), 0);
    const share = Math.max((whole - measured) / unmeasured.length, (MIN_CASE_PART * whole) / cases.length);
    for (const file of unmeasured) {
      shared[file] = share;
      setBasis(basis, file, OF_FILE);
    }
  }
  return shared;
}

/** The listed test cases of a file. */
function casesOf(list: Paths, path: string): number[] {
  const cases: number[] = [];
  const [from, to] = list.beginningWith(path);
  for (let file = from; file < to; file++) if (fileOf(list.at(file)) === path) cases.push(file);
  return cases;
}
