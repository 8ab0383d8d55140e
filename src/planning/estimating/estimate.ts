import { toWeight } from '../weight.js';
import { fileOf } from './test-case.js';

/** The files of a request as they are planned: slowest first, equal ones by path. Columns, because objects take twice as long. */
export interface Estimates {
  paths: readonly string[];
  /** As they are answered; NaN when neither the path nor, for a test case, its file was ever measured. */
  seconds: Float64Array;
  /** See weight.ts. */
  weights: Float64Array;
}

/** What is known of the paths of a request, in seconds. */
export interface KnownTimes {
  /** In the order of the paths; NaN where nothing is known. */
  seconds: Float64Array;
  /** Of the files of test cases that are not known themselves. */
  files: ReadonlyMap<string, number>;
}

/**
 * New files are taken for one of the slower known ones: underestimating costs more than overestimating. Of a queue the
 * percentile is higher: what it takes for slow is handed out early, when a surprise still evens out.
 */
export const SPLIT_PERCENTILE = 0.75;
export const QUEUE_PERCENTILE = 0.9;
/** So many known files make a directory tell of its new ones. */
const ENOUGH_KNOWN = 3;
/** Seconds that a file is taken for while no file of the project was ever measured. */
const FIRST_GUESS_SECONDS = 1;
/** Directories further up than this are not asked: that bounds the work for deep ones, each of its own. */
const MAX_LEVELS = 8;
/** Of what its file takes by case, what a case is taken for at least, however much the known cases take of it. */
const MIN_PART = 0.1;

export function estimate(paths: readonly string[], known: KnownTimes, percentile: number): Estimates {
  const seconds = withShares(paths, known);
  const guess = guesses(paths, seconds, percentile);
  const weights = seconds.map((time, i) => toWeight(Number.isNaN(time) ? guess(paths[i]!) : time));
  const places = slowestFirst(paths, weights);
  return {
    paths: Array.from(places, place => paths[place]!),
    seconds: inOrder(seconds, places),
    weights: inOrder(weights, places),
  };
}

function inOrder(values: Float64Array, places: Uint32Array): Float64Array {
  const ordered = new Float64Array(places.length);
  for (let i = 0; i < places.length; i++) ordered[i] = values[places[i]!]!;
  return ordered;
}

/** More than the files of a request. Times the greatest weight it stays below 2^53. */
const PLACES = 2 ** 18;

/** The places of the paths by weight in descending order, of equal weight by path. */
function slowestFirst(paths: readonly string[], weights: Float64Array): Uint32Array {
  // Numbers are sorted five times as fast as objects: weight and place in one.
  const keys = weights.map((weight, i) => weight * PLACES + i);
  keys.sort();
  const places = new Uint32Array(keys.length);
  let count = 0;
  for (let end = keys.length; end > 0; ) {
    const weight = Math.floor(keys[end - 1]! / PLACES);
    let start = end;
    while (start > 0 && keys[start - 1]! >= weight * PLACES) start -= 1;
    const equal = places.subarray(count, (count += end - start));
    for (let i = start; i < end; i++) equal[i - start] = keys[i]! - weight * PLACES;
    if (equal.length > 1) sortByPath(equal, paths);
    end = start;
  }
  return places;
}

function sortByPath(places: Uint32Array, paths: readonly string[]): void {
  // As listed: a list is nearly always sorted, and then this is all.
  if (places.every((place, i) => i === 0 || paths[places[i - 1]!]! < paths[place]!)) return;
  places.set(Array.from(places).sort((a, b) => (paths[a]! < paths[b]! ? -1 : 1)));
}

/** What is known of each path, for a test case perhaps as a share of its file. */
function withShares(paths: readonly string[], known: KnownTimes): Float64Array {
  const shares = sharesOfFiles(paths, known);
  if (shares.size === 0) return known.seconds;
  return known.seconds.map((time, i) => (Number.isNaN(time) ? (shares.get(fileOf(paths[i]!) ?? '') ?? NaN) : time));
}

/** By file that is known as a whole only: what each of its listed cases is taken for that is not known itself. */
function sharesOfFiles(paths: readonly string[], { seconds, files }: KnownTimes): Map<string, number> {
  const shares = new Map<string, number>();
  if (files.size === 0) return shares;
  const listed = new Map<string, { cases: number; unknown: number; known: number }>();
  for (const [i, path] of paths.entries()) {
    const file = fileOf(path);
    if (file === null || !files.has(file)) continue;
    const of = listed.get(file) ?? { cases: 0, unknown: 0, known: 0 };
    of.cases += 1;
    if (Number.isNaN(seconds[i])) of.unknown += 1;
    else of.known += seconds[i]!;
    listed.set(file, of);
  }
  for (const [file, { cases, unknown, known }] of listed) {
    const whole = files.get(file)!;
    if (unknown > 0) shares.set(file, Math.max((whole - known) / unknown, (MIN_PART * whole) / cases));
  }
  return shares;
}

/** Guesses for paths of which nothing is known, by what is known around them. */
function guesses(paths: readonly string[], seconds: Float64Array, percentile: number): (path: string) => number {
  if (!seconds.some(Number.isNaN) || seconds.every(Number.isNaN)) return () => FIRST_GUESS_SECONDS;
  const around = new Map<string, number[]>();
  for (const [i, path] of paths.entries()) {
    if (!Number.isNaN(seconds[i])) continue;
    for (const directory of directoriesOf(path)) {
      // One that has them from another path has those above it, too.
      if (around.has(directory)) break;
      around.set(directory, []);
    }
  }
  const all: number[] = [];
  for (const [i, path] of paths.entries()) {
    const time = seconds[i]!;
    if (Number.isNaN(time)) continue;
    all.push(time);
    for (const directory of directoriesOf(path)) around.get(directory)?.push(time);
  }
  const ofAll = slower(all, percentile) ?? FIRST_GUESS_SECONDS;
  const guessOf = new Map<string, number>();
  for (const [directory, times] of around) {
    if (times.length >= ENOUGH_KNOWN) guessOf.set(directory, slower(times, percentile)!);
  }
  return path => {
    for (const directory of directoriesOf(path)) {
      const guess = guessOf.get(directory);
      if (guess !== undefined) return guess;
    }
    return ofAll;
  };
}

/** What the path lies in, nearest first: of a test case its file, then the directories. */
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

function slower(seconds: number[], percentile: number): number | undefined {
  return seconds.sort((a, b) => a - b)[Math.min(seconds.length - 1, Math.floor(seconds.length * percentile))];
}
