import { toWeight } from '../weight.js';
import { BASIS_BYTES, type Basis, codeOf, setBasis } from './basis.js';
import { fileOf } from './test-case.js';

/** The files of a request in planning order: slowest first, equal ones by path. Columns, because objects take twice as long. */
export interface Estimates extends PathTimes {
  /** The durations to plan with, guesses included (see weight.ts). */
  weights: Float64Array;
  /** What the estimates rest on. */
  basis: Basis;
}

export interface PathTimes {
  paths: readonly string[];
  /** The known durations; NaN when neither the path nor, for a test case, its file was ever measured. */
  seconds: Float64Array;
}

/** The known durations of the paths of a request, in seconds. */
export interface KnownTimes {
  /** In the order of the paths; NaN: unknown. */
  seconds: Float64Array;
  /** Of the known ones. */
  basis: Basis;
  /** The durations of whole files, for test cases that are unknown themselves. */
  files: ReadonlyMap<string, number>;
}

/**
 * A new file is expected to take as long as this percentile of the known ones: underestimating costs more than overestimating.
 * A queue has a higher percentile: it hands out slow files early, when later batches can still make up for a wrong guess.
 */
export const SPLIT_PERCENTILE = 0.75;
export const QUEUE_PERCENTILE = 0.9;
/** A directory needs this many known files to predict its new ones. */
const MIN_KNOWN_FILES = 3;
/** The guess while no file of the project was ever measured. */
const FIRST_GUESS_SECONDS = 1;
/** Directories further up are not considered: that limits the work for deep paths with a directory each. */
const MAX_LEVELS = 8;
/** An unknown test case takes at least this part of the mean duration of its file's cases, even when the known cases take it all. */
const MIN_CASE_PART = 0.1;

const OF_FILE = codeOf('file');
const OF_DIRECTORY = codeOf('directory');
const OF_SUITE = codeOf('suite');
const OF_NOTHING = codeOf('none');

export function estimate(paths: readonly string[], known: KnownTimes, percentile: number): Estimates {
  const basis = known.basis.slice();
  const seconds = withShares(paths, known, basis);
  const guess = guesses(paths, seconds, percentile, basis);
  const weights = seconds.map((time, i) => toWeight(Number.isNaN(time) ? guess(paths[i]!, i) : time));
  const order = slowestFirst(paths, weights);
  return {
    paths: Array.from(order, i => paths[i]!),
    seconds: inOrder(seconds, order),
    weights: inOrder(weights, order),
    basis: basisInOrder(basis, order),
  };
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

/** Larger than the index of any file in a request. Times the largest weight it is below 2^53. */
const MAX_INDEX = 2 ** 18;

/** Returns the indices of the paths by weight in descending order, and by path where weights are equal. */
function slowestFirst(paths: readonly string[], weights: Float64Array): Uint32Array {
  // Numbers sort five times as fast as objects, so weight and index are one number.
  const keys = weights.map((weight, i) => weight * MAX_INDEX + i);
  keys.sort();
  const order = new Uint32Array(keys.length);
  let count = 0;
  for (let end = keys.length; end > 0; ) {
    const weight = Math.floor(keys[end - 1]! / MAX_INDEX);
    let start = end;
    while (start > 0 && keys[start - 1]! >= weight * MAX_INDEX) start -= 1;
    const equal = order.subarray(count, (count += end - start));
    for (let i = start; i < end; i++) equal[i - start] = keys[i]! - weight * MAX_INDEX;
    if (equal.length > 1) sortByPath(equal, paths);
    end = start;
  }
  return order;
}

function sortByPath(indices: Uint32Array, paths: readonly string[]): void {
  // Most lists are sorted already.
  if (indices.every((index, i) => i === 0 || paths[indices[i - 1]!]! < paths[index]!)) return;
  indices.set(Array.from(indices).sort((a, b) => (paths[a]! < paths[b]! ? -1 : 1)));
}

/** Returns the known durations. A test case that is unknown itself gets a share of its file, which is noted in the basis. */
function withShares(paths: readonly string[], known: KnownTimes, basis: Basis): Float64Array {
  const shares = sharesOfFiles(paths, known);
  if (shares.size === 0) return known.seconds;
  return known.seconds.map((time, i) => {
    const share = Number.isNaN(time) ? shares.get(fileOf(paths[i]!) ?? '') : undefined;
    if (share === undefined) return time;
    setBasis(basis, i, OF_FILE);
    return share;
  });
}

/** Returns by file the duration of each of its listed cases that is unknown itself. */
function sharesOfFiles(paths: readonly string[], { seconds, files }: KnownTimes): Map<string, number> {
  const shares = new Map<string, number>();
  if (files.size === 0) return shares;
  /** The number of cases and of unknown ones, and the seconds of the known ones. */
  const listed = new Map<string, { cases: number; unknown: number; known: number }>();
  for (const [i, path] of paths.entries()) {
    const file = fileOf(path);
    if (file === null || !files.has(file)) continue;
    const sums = listed.get(file) ?? { cases: 0, unknown: 0, known: 0 };
    sums.cases += 1;
    if (Number.isNaN(seconds[i])) sums.unknown += 1;
    else sums.known += seconds[i]!;
    listed.set(file, sums);
  }
  for (const [file, { cases, unknown, known }] of listed) {
    const whole = files.get(file)!;
    if (unknown > 0) shares.set(file, Math.max((whole - known) / unknown, (MIN_CASE_PART * whole) / cases));
  }
  return shares;
}

/** Returns guesses for unknown paths, from the known files in the nearest directory that has enough of them, which is noted in the basis. */
function guesses(
  paths: readonly string[],
  seconds: Float64Array,
  percentile: number,
  basis: Basis,
): (path: string, index: number) => number {
  const noted = (index: number, code: number, guess: number) => {
    setBasis(basis, index, code);
    return guess;
  };
  if (!seconds.some(Number.isNaN) || seconds.every(Number.isNaN)) return (_, index) => noted(index, OF_NOTHING, FIRST_GUESS_SECONDS);
  const timesByDirectory = new Map<string, number[]>();
  for (const [i, path] of paths.entries()) {
    if (!Number.isNaN(seconds[i])) continue;
    for (const directory of directoriesOf(path)) {
      // The directories above it are there as well.
      if (timesByDirectory.has(directory)) break;
      timesByDirectory.set(directory, []);
    }
  }
  const times: number[] = [];
  for (const [i, path] of paths.entries()) {
    const time = seconds[i]!;
    if (Number.isNaN(time)) continue;
    times.push(time);
    for (const directory of directoriesOf(path)) timesByDirectory.get(directory)?.push(time);
  }
  const fallback = percentileOf(times, percentile) ?? FIRST_GUESS_SECONDS;
  const guessByDirectory = new Map<string, number>();
  for (const [directory, known] of timesByDirectory) {
    if (known.length >= MIN_KNOWN_FILES) guessByDirectory.set(directory, percentileOf(known, percentile)!);
  }
  return (path, index) => {
    for (const directory of directoriesOf(path)) {
      const guess = guessByDirectory.get(directory);
      if (guess !== undefined) return noted(index, directory === fileOf(path) ? OF_FILE : OF_DIRECTORY, guess);
    }
    return noted(index, OF_SUITE, fallback);
  };
}

/** Yields what contains the path, nearest first: the file of a test case, then the directories. */
function* directoriesOf(path: string): Generator<string> {
  const file = fileOf(path);
  if (file !== null) yield file;
  let end = (file ?? path).length;
  for (let level = 0; level < MAX_LEVELS; level++) {
    end = Math.max(path.lastIndexOf('/', end - 1), path.lastIndexOf('\\', end - 1));
    if (end <= 0) return;
    yield path.slice(0, end);
  }
}

function percentileOf(seconds: number[], percentile: number): number | undefined {
  return seconds.sort((a, b) => a - b)[Math.min(seconds.length - 1, Math.floor(seconds.length * percentile))];
}
