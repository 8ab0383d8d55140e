import { fileOf } from '../../../protocol/test-case.js';
import { toSeconds, toWeight } from '../weight.js';
import { codeOf, emptyBasis, setBasis } from './basis.js';
import { type BranchExpectation, type BranchTiming, type BranchTimings, timingOn } from './branch-timings.js';
import type { MeasuredTimes, Paths } from './estimate.js';
import { type Expectation, estimateOf, expectationOf } from './timing.js';

/** Test cases that are added up to estimate a file without a time of its own. */
export const TEST_CASES_PER_FILE = 10_000;
/** Test cases measured this long before the last one of their file no longer exist. It is longer than a build takes. */
export const STALE_TEST_CASE_MILLISECONDS = 21_600_000;

/** Looks up the times that a store has of the paths of a list. */
export interface TimingLookup {
  /** A number for the branch. */
  branch: number;
  /** The number of the default branch; null: the project has no build yet. */
  defaultBranch: number | null;
  /** Reports what `expectationOn` returns of each listed path that was measured. */
  each(report: (file: number, expected: BranchExpectation) => void): void;
  /** The expectation of a path, listed or not; undefined: it was never measured. */
  expectation(path: string): BranchExpectation | undefined;
  /** The timings of up to `limit` test cases of a file; null: the project has no test cases. */
  cases: ((file: string, limit: number) => BranchTimings[]) | null;
}

export interface LookedUpTimes extends MeasuredTimes {
  /** False: there were more test cases than were to be added up, and the times of some files are missing. */
  isComplete: boolean;
}

const OWN_BRANCH = codeOf('branch');
const DEFAULT_BRANCH = codeOf('default_branch');
const OTHER_BRANCH = codeOf('other_branch');
const CASES = codeOf('cases');

/** The measured duration of each path. For a file without measurements: the sum of its test cases, of at most `mostCases` in all files. */
export function measuredTimes(list: Paths, lookup: TimingLookup, mostCases: number): LookedUpTimes {
  const files = new Map<string, number>();
  const seconds = new Float64Array(list.length).fill(NaN);
  const basis = emptyBasis(list.length);
  const set = (file: number, code: number, expected: Expectation) => {
    seconds[file] = expected.seconds;
    setBasis(basis, file, code, expected.builds, expected.deviation);
  };
  lookup.each((file, expected) => set(file, sourceOf(expected, lookup), expected));
  const times: LookedUpTimes = { seconds, files, basis, isComplete: true };
  if (!list.hasCases && !lookup.cases) return times;
  let casesLeft = mostCases;
  for (let i = 0; i < list.length; i++) {
    if (!Number.isNaN(seconds[i])) continue;
    const path = list.at(i);
    const file = fileOf(path);
    if (file !== null) {
      const whole = files.has(file) ? undefined : lookup.expectation(copyOf(file));
      if (whole) files.set(file, whole.seconds);
    } else if (lookup.cases && casesLeft > 0) {
      const cases = lookup.cases(path, Math.min(TEST_CASES_PER_FILE, casesLeft));
      casesLeft -= cases.length;
      const sum = sumOfCases(cases, lookup.branch, lookup.defaultBranch);
      if (sum) set(i, CASES, sum);
    }
  }
  return { ...times, isComplete: casesLeft > 0 };
}

function sourceOf({ branch }: BranchExpectation, lookup: TimingLookup): number {
  if (branch === lookup.branch) return OWN_BRANCH;
  return branch === lookup.defaultBranch && branch !== null ? DEFAULT_BRANCH : OTHER_BRANCH;
}

/** Copies a part of a text: a substring would keep the whole text in memory as long as its path is kept. */
function copyOf(part: string): string {
  return Buffer.from(part, 'utf16le').toString('utf16le');
}

/** The sum of the current test cases of a file; null: there are none. It has as many builds as the case with the fewest. */
function sumOfCases(cases: readonly BranchTimings[], branch: number, defaultBranch: number | null): Expectation | null {
  const current = currentCases(cases, branch, defaultBranch);
  if (current.length === 0) return null;
  let [sum, builds, variance] = [0, Infinity, 0];
  for (const timing of current) {
    const expected = expectationOf(timing);
    sum += expected.seconds;
    builds = Math.min(builds, expected.builds);
    // The deviations of cases are independent: their squares add up.
    variance += (expected.seconds * expected.deviation) ** 2;
  }
  return { seconds: toSeconds(toWeight(sum)), builds, deviation: Math.sqrt(variance) / sum };
}

/** The seconds of the current test cases of a file. */
export function timesOfCases(cases: readonly BranchTimings[], branch: number, defaultBranch: number | null): number[] {
  return currentCases(cases, branch, defaultBranch).map(estimateOf);
}

/**
 * The current test cases of a file, as far as the branch and the default branch tell; if they tell nothing, as far as any branch does.
 */
function currentCases(cases: readonly BranchTimings[], branch: number, defaultBranch: number | null): BranchTiming[] {
  const onBranch = (name: number) => fresh(cases.map(timings => timings.find(timing => timing.branch === name)));
  const own = onBranch(branch);
  const others = defaultBranch === null ? [] : onBranch(defaultBranch);
  const found = cases.flatMap((_, i) => own[i] ?? others[i] ?? []);
  return found.length > 0 ? found : fresh(cases.map(timings => timingOn(timings, branch, defaultBranch))).flatMap(timing => timing ?? []);
}

/** The timings that were measured about when the last one was: an older case was deleted or renamed. */
function fresh(timings: readonly (BranchTiming | undefined)[]): (BranchTiming | undefined)[] {
  const last = timings.reduce((latest, timing) => Math.max(latest, timing?.at ?? 0), 0);
  return timings.map(timing => (timing && timing.at >= last - STALE_TEST_CASE_MILLISECONDS ? timing : undefined));
}
