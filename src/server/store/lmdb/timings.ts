import { shortDigest } from '../../engine/keys.js';
import type { RecordedPath, Timings } from '../../engine/ports/timings.js';
import type { Suite } from '../../engine/suites/suite.js';
import { type BranchExpectation, type BranchTimings, expectationOn } from '../../planning/estimating/branch-timings.js';
import { measuredTimes, TEST_CASES_PER_FILE, timesOfCases } from '../../planning/estimating/measured-times.js';
import { rangeOfCases, rangeOfPieces } from '../codecs/path-keys.js';
import { decodeExpectationOn, decodeTimings } from '../codecs/timing-codec.js';
import type { Parts } from './parts.js';
import { type Branches, branchesOf } from './writes/apply-times.js';

/** Numbers are read in one range if it has at most this many for each path. A step of a range takes a third of the time of a look-up. */
const NUMBERS_PER_PATH = 3;

/** A larger list is not kept for the next one, in bytes of its paths. */
const KEPT_LIST_BYTES = 8_388_608;

/**
 * Takes the numbers of the paths that a list shares with another one of its project, in a fraction of the time of looking them up. Both are
 * sorted. Where they are not in the order of their bytes, some paths get none.
 */
function takeNumbers(from: Suite, to: Suite): void {
  for (let file = 0, other = 0; file < to.length && other < from.length; ) {
    const order = to.compareBytes(file, from, other);
    if (order === 0) to.columns.numbers[file] = from.columns.numbers[other]!;
    if (order <= 0) file++;
    if (order >= 0) other++;
  }
}

type Report = (file: number, expected: BranchExpectation) => void;

export function lmdbTimings(parts: Pick<Parts, 'projects' | 'paths' | 'pathNames' | 'timings' | 'pathNumbers' | 'timingBuffer'>) {
  const { projects, paths, pathNames, timings, pathNumbers, timingBuffer } = parts;

  function expectationOf(project: number, path: string, { branch, defaultBranch }: Branches): BranchExpectation | undefined {
    const number = pathNumbers.get(project, path);
    if (number === undefined) return undefined;
    const buffered = timingBuffer.get(number);
    if (buffered) return expectationOn(buffered.timings, branch, defaultBranch);
    // Another thread may have deleted the path under this number and given the path a new one.
    const bytes = timings.getBinaryFast(number) ?? timings.getBinaryFast(pathNumbers.read(project, path) ?? number);
    return bytes && decodeExpectationOn(bytes, branch, defaultBranch);
  }

  /** Reports what is expected of each path of a suite that was measured. */
  function eachExpectation(project: number, list: Suite, branches: Branches, report: Report): void {
    const { branch, defaultBranch } = branches;
    const numbers = numbersOf(project, list);
    const isRead = new Uint8Array(list.length);
    const read = (file: number, expected: BranchExpectation | undefined) => {
      isRead[file] = 1;
      if (expected) report(file, expected);
    };
    eachStored(numbers, (file, bytes) => read(file, decodeExpectationOn(bytes, branch, defaultBranch)));
    for (let file = 0; file < list.length; file++) {
      const number = numbers[file]!;
      if (number === 0) continue;
      const buffered = timingBuffer.get(number);
      if (buffered) read(file, expectationOn(buffered.timings, branch, defaultBranch));
      // Another thread may have deleted the path under this number and given the path a new one.
      else if (isRead[file] === 0) read(file, expectationOf(project, list.at(file), branches));
    }
  }

  /** The list whose paths were looked up last, of which the next one often has nearly all. */
  let last: { project: number; list: Suite } | null = null;

  /** The numbers of the paths of a list; 0: a path was never recorded. */
  function numbersOf(project: number, list: Suite): Uint32Array {
    const { numbers } = list.columns;
    const [highest = 0] = pathNames.getKeys({ reverse: true, limit: 1 });
    // A path that had no number still has none if no number was given since.
    if (numbers[list.length] !== highest) {
      if (numbers[list.length] === 0 && last?.project === project) takeNumbers(last.list, list);
      for (let file = 0; file < list.length; file++) {
        if (numbers[file] === 0) numbers[file] = pathNumbers.get(project, list.at(file)) ?? 0;
      }
      numbers[list.length] = highest;
    }
    last = list.heads.length <= KEPT_LIST_BYTES ? { project, list } : null;
    return numbers;
  }

  /** Reads the timings under the numbers. @param found must not keep the bytes */
  function eachStored(numbers: Uint32Array, found: (file: number, bytes: Buffer) => void): void {
    let [first, last, count] = [Infinity, 0, 0];
    for (let file = 0; file < numbers.length - 1; file++) {
      const number = numbers[file]!;
      if (number === 0) continue;
      count += 1;
      if (number < first) first = number;
      if (number > last) last = number;
    }
    if (count === 0) return;
    if (last - first >= NUMBERS_PER_PATH * count) {
      for (let file = 0; file < numbers.length - 1; file++) {
        const bytes = numbers[file] === 0 ? undefined : timings.getBinaryFast(numbers[file]!);
        if (bytes) found(file, bytes);
      }
      return;
    }
    /** By number: the file + 1. */
    const files = new Uint32Array(last - first + 1);
    for (let file = 0; file < numbers.length - 1; file++) if (numbers[file]! > 0) files[numbers[file]! - first] = file + 1;
    for (const { key, value } of timings.getRange({ start: first, end: last + 1 })) {
      const file = files[key - first]!;
      if (file > 0) found(file - 1, value);
    }
  }

  function timingsOf(number: number): BranchTimings {
    const buffered = timingBuffer.get(number);
    if (buffered) return buffered.timings;
    const bytes = timings.getBinaryFast(number);
    return bytes ? decodeTimings(bytes).timings : [];
  }

  function timingsIn(range: object, limit: number): BranchTimings[] {
    return [...paths.getRange({ ...range, limit })].map(({ value: number }) => timingsOf(number));
  }

  function casesOf(project: number, file: string, limit: number): BranchTimings[] {
    return timingsIn(rangeOfCases(project, file), limit);
  }

  return {
    estimates(project, branchName, list, mostCases) {
      const branches = branchesOf(parts, project, branchName);
      const each = (report: Report) => eachExpectation(project, list, branches, report);
      const cases = (file: string, limit: number) => casesOf(project, file, limit);
      const hasCases = projects.get(project)?.has_test_cases ?? false;
      const expectation = (path: string) => expectationOf(project, path, branches);
      return measuredTimes(list, { ...branches, each, expectation, cases: hasCases ? cases : null }, mostCases);
    },
    ofPaths(project, branchName, numbers) {
      const { branch, defaultBranch } = branchesOf(parts, project, branchName);
      return Float64Array.from(numbers, number => {
        const buffered = timingBuffer.get(number);
        if (buffered) return expectationOn(buffered.timings, branch, defaultBranch)?.seconds ?? NaN;
        const bytes = timings.getBinaryFast(number);
        return bytes ? (decodeExpectationOn(bytes, branch, defaultBranch)?.seconds ?? NaN) : NaN;
      });
    },
    cases(project, branchName, file) {
      const { branch, defaultBranch } = branchesOf(parts, project, branchName);
      return timesOfCases(casesOf(project, file, TEST_CASES_PER_FILE), branch, defaultBranch);
    },
    measuredOn(project, branchName, files) {
      const branch = shortDigest(branchName);
      const isOn = (timings: BranchTimings) => timings.some(timing => timing.branch === branch);
      const isMeasured = (file: string) => {
        const number = pathNumbers.read(project, file);
        if (number !== undefined && isOn(timingsOf(number))) return true;
        return [rangeOfPieces(project, file), rangeOfCases(project, file)].some(range => timingsIn(range, TEST_CASES_PER_FILE).some(isOn));
      };
      return new Set(files.filter(isMeasured));
    },
    all(from, limit) {
      const listed: RecordedPath[] = [];
      for (const { key: number, value: name } of pathNames.getRange({ start: from })) {
        if (listed.length === limit) break;
        const bytes = timings.get(number);
        const found = timingBuffer.get(number) ?? (bytes && decodeTimings(bytes));
        // The project of a path is unknown if its timings are lost.
        if (found) listed.push({ number, path: JSON.parse(name) as string, ...found });
      }
      return listed;
    },
  } satisfies Timings;
}
