import { normal, pick, type Random } from '../../test/testbed/random.js';
import { NOUNS, QUALIFIERS, VERBS } from './words.js';

/** A folder of a suite: its files are named alike and take about the same time. */
export interface Folder {
  path: string;
  ending: string;
  files: number;
  /** The median of their durations in seconds, and the standard deviation of the logarithm. */
  median: number;
  spread: number;
}

export interface SuiteFile {
  path: string;
  /** The usual duration in seconds, before `changes`. */
  seconds: number;
  /** The standard deviation of the logarithm, from one CI run to the next. */
  noise: number;
  /** The part of the CI runs in which it fails for no reason. */
  flakiness: number;
  /** The part of all days, from the first one, in which it is flaky. */
  flakyPart: number;
  /** Since when it fails on the main branch, and since when the repository mutes that; null: it does not. */
  broken: { daysAgo: number; mutedDaysAgo: number } | null;
  /** When it was added and deleted, in days before now. */
  addedDaysAgo: number;
  deletedDaysAgo: number;
  /** Commits from which on it takes this many times longer. */
  changes: { daysAgo: number; factor: number }[];
  /** Its test cases, with what each takes relative to the others; none: they are not known. */
  cases: readonly { name: string; part: number }[];
}

const NEW_FILES = 0.06;
const DELETED_FILES = 0.01;
const FLAKY_FILES = 0.004;

/** Draws the files of a suite, sorted by path. The newest list has exactly the given number of files in each folder. */
export function drawSuite(random: Random, folders: readonly Folder[], days: number): SuiteFile[] {
  const files = folders.flatMap(({ path, ending, files, median, spread }) => {
    const deleted = Math.round(DELETED_FILES * files);
    return drawNames(random, files + deleted).map((name, i): SuiteFile => {
      const isVariable = random() < 0.05;
      return {
        path: `${path}/${ending.includes('_') ? name : name.replaceAll('_', '-')}${ending}`,
        seconds: median * Math.exp(spread * normal(random)),
        noise: isVariable ? 0.4 : 0.06 + 0.06 * random(),
        flakiness: random() < FLAKY_FILES ? 0.01 : 0,
        flakyPart: 1,
        broken: null,
        addedDaysAgo: random() < NEW_FILES ? days * random() : Infinity,
        deletedDaysAgo: i < files ? -1 : days * random(),
        changes: [],
        cases: [],
      };
    });
  });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Draws distinct names of one to three words. */
function drawNames(random: Random, count: number): string[] {
  const names = new Set<string>();
  while (names.size < count) {
    const noun = pick(random, NOUNS);
    const kind = random();
    names.add(kind < 0.4 ? noun : kind < 0.7 ? `${pick(random, VERBS)}_${noun}` : `${pick(random, QUALIFIERS)}_${noun}`);
  }
  return [...names];
}

/** Time of a file in a CI run, in seconds, without noise. */
export function secondsOf({ seconds, changes }: SuiteFile, daysAgo: number): number {
  return changes.reduce((product, change) => (change.daysAgo >= daysAgo ? product * change.factor : product), seconds);
}

export function exists({ addedDaysAgo, deletedDaysAgo }: SuiteFile, daysAgo: number): boolean {
  return addedDaysAgo >= daysAgo && deletedDaysAgo < daysAgo;
}
