import { toWeight } from '../weight.js';
import { fileOf } from './test-case.js';

export interface Estimate {
  path: string;
  /** As it is answered: null when neither the path nor, for a test case, its file was ever measured. */
  time_execution: number | null;
  /** See weight.ts. */
  weight: number;
}

/** What is known of the paths of a request, in seconds. */
export interface KnownTimes {
  /** In the order of the paths; null where nothing is known. */
  seconds: readonly (number | null)[];
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
const MOST_LEVELS = 8;
/** Of what its file takes by case, what a case is taken for at least, however much the known cases take of it. */
const LEAST_PART = 0.1;

/** The estimates of all paths, slowest first; equal ones by path. */
export function estimate(paths: readonly string[], known: KnownTimes, percentile: number): Estimate[] {
  const shares = sharesOfFiles(paths, known);
  const shareOf = (path: string) => (shares.size === 0 ? null : (shares.get(fileOf(path) ?? '') ?? null));
  const seconds = known.seconds.map((time, i) => time ?? shareOf(paths[i]!));
  const guess = guesses(paths, seconds, percentile);
  const weights = new Float64Array(paths.length);
  for (let i = 0; i < paths.length; i++) weights[i] = toWeight(seconds[i] ?? guess(paths[i]!));
  return slowestFirst(paths, weights).map(i => ({
    path: paths[i]!,
    time_execution: seconds[i]!,
    weight: weights[i]!,
  }));
}

/** More than the files of a request. Times the greatest weight it stays below 2^53. */
const PLACES = 2 ** 18;

/** The places of the paths by weight in descending order, of equal weight by path. */
function slowestFirst(paths: readonly string[], weights: Float64Array): number[] {
  // Numbers are sorted five times as fast as objects: weight and place in one.
  const keys = new Float64Array(paths.length);
  for (let i = 0; i < keys.length; i++) keys[i] = weights[i]! * PLACES + i;
  keys.sort();
  const places: number[] = [];
  for (let end = keys.length; end > 0; ) {
    const weight = Math.floor(keys[end - 1]! / PLACES);
    const equal: number[] = [];
    while (end > 0 && keys[end - 1]! >= weight * PLACES) equal.push(keys[--end]! - weight * PLACES);
    // As listed: a list is nearly always sorted, and then this is done at once.
    if (equal.length > 1) equal.reverse().sort((a, b) => (paths[a]! < paths[b]! ? -1 : 1));
    for (const place of equal) places.push(place);
  }
  return places;
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
    if (seconds[i] == null) of.unknown += 1;
    else of.known += seconds[i];
    listed.set(file, of);
  }
  for (const [file, { cases, unknown, known }] of listed) {
    const whole = files.get(file)!;
    if (unknown > 0) shares.set(file, Math.max((whole - known) / unknown, (LEAST_PART * whole) / cases));
  }
  return shares;
}

/** Guesses for paths of which nothing is known, by what is known around them. */
function guesses(
  paths: readonly string[],
  seconds: readonly (number | null)[],
  percentile: number,
): (path: string) => number {
  if (!seconds.includes(null) || seconds.every(time => time === null)) return () => FIRST_GUESS_SECONDS;
  const around = new Map<string, number[]>();
  for (const [i, path] of paths.entries()) {
    if (seconds[i] !== null) continue;
    for (const directory of directoriesOf(path)) {
      // One that has them from another path has those above it, too.
      if (around.has(directory)) break;
      around.set(directory, []);
    }
  }
  const all: number[] = [];
  for (const [i, path] of paths.entries()) {
    const time = seconds[i];
    if (time == null) continue;
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
  for (let level = 0; level < MOST_LEVELS; level++) {
    end = Math.max(path.lastIndexOf('/', end - 1), path.lastIndexOf('\\', end - 1));
    if (end <= 0) return;
    yield path.slice(0, end);
  }
}

function slower(seconds: number[], percentile: number): number | undefined {
  return seconds.sort((a, b) => a - b)[Math.min(seconds.length - 1, Math.floor(seconds.length * percentile))];
}
