import { fileOf } from '../../../protocol/test-case.js';
import { type Basis, codeOf, setBasis } from './basis.js';
import type { Paths } from './estimate.js';
import { median } from './median.js';

/** A directory needs this many measured files to predict its new ones. */
const MIN_MEASURED_FILES = 3;
/** The guess for a file of usual size while no file of the project was ever measured, and how much that of another one may differ. */
const FIRST_GUESS_SECONDS = 1;
const MAX_SIZE_RATIO = 5;
/** Directories further up are not considered: that limits the work for deep paths with a directory each. */
const MAX_LEVELS = 8;

/** The text that follows the name of a container in the paths inside it: a directory, or a file of test cases. */
const ENDS = ['/', '\\', '[', ':'];

const OF_FILE = codeOf('file');
const OF_DIRECTORY = codeOf('directory');
const OF_SUITE = codeOf('suite');
const OF_NOTHING = codeOf('none');

/** Guesses the seconds of paths that were never measured from the measured files in the nearest directory that has enough of these. */
export class Guesses {
  /** By directory, or file of test cases; null: too few of its paths were measured. */
  readonly #inside = new Map<string, number | null>();
  readonly #isAnyMeasured: boolean;
  /** The percentile of the suite; undefined: not needed yet. */
  #ofAll: number | undefined;
  #usualSize: number | undefined;

  /**
   * @param seconds in the order of the list; NaN: never measured
   * @param sizes bytes, in the order of the list; 0: unknown
   */
  constructor(
    readonly list: Paths,
    readonly seconds: Float64Array,
    readonly percentile: number,
    readonly sizes: readonly number[],
  ) {
    this.#isAnyMeasured = seconds.some(time => !Number.isNaN(time));
  }

  /** Returns the seconds of a path that was never measured, and notes their source in the basis. */
  guess(file: number, basis: Basis): number {
    if (!this.#isAnyMeasured) {
      setBasis(basis, file, OF_NOTHING);
      return FIRST_GUESS_SECONDS * this.#sizeRatio(file);
    }
    const path = this.list.at(file);
    for (const container of containersOf(path)) {
      const guess = this.#guessInside(container);
      if (guess === null) continue;
      setBasis(basis, file, container === fileOf(path) ? OF_FILE : OF_DIRECTORY);
      return guess;
    }
    setBasis(basis, file, OF_SUITE);
    this.#ofAll ??= this.#percentileOf(this.seconds.filter(time => !Number.isNaN(time)));
    return this.#ofAll;
  }

  /** The size of a file relative to the median; 1: it is unknown. */
  #sizeRatio(file: number): number {
    const size = this.sizes[file] ?? 0;
    if (size === 0) return 1;
    this.#usualSize ??= median(this.sizes.filter(each => each > 0));
    return Math.min(MAX_SIZE_RATIO, Math.max(1 / MAX_SIZE_RATIO, size / this.#usualSize));
  }

  #guessInside(container: string): number | null {
    let guess = this.#inside.get(container);
    if (guess === undefined) {
      const measured = this.#timesInside(container);
      guess = measured.length < MIN_MEASURED_FILES ? null : this.#percentileOf(Float64Array.from(measured));
      this.#inside.set(container, guess);
    }
    return guess;
  }

  /** The measured times of the paths in a directory or file. */
  #timesInside(container: string): number[] {
    const times: number[] = [];
    for (const end of ENDS) {
      const isFile = end === '[' || end === ':';
      if (isFile && !this.list.hasCases) continue;
      const [from, to] = this.list.beginningWith(container + end);
      for (let file = from; file < to; file++) {
        const time = this.seconds[file]!;
        if (!Number.isNaN(time) && (!isFile || fileOf(this.list.at(file)) === container)) times.push(time);
      }
    }
    return times;
  }

  /** @param seconds at least one */
  #percentileOf(seconds: Float64Array): number {
    return seconds.sort()[Math.min(seconds.length - 1, Math.floor(seconds.length * this.percentile))]!;
  }
}

/** Yields what contains the path, nearest first: the file of a test case, then the directories. */
function* containersOf(path: string): Generator<string> {
  const file = fileOf(path);
  if (file !== null) yield file;
  let end = (file ?? path).length;
  for (let level = 0; level < MAX_LEVELS; level++) {
    end = Math.max(path.lastIndexOf('/', end - 1), path.lastIndexOf('\\', end - 1));
    if (end <= 0) return;
    yield path.slice(0, end);
  }
}
