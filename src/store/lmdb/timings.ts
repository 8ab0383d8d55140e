import type { KnownPath, Timings } from '../../engine/ports/timings.js';
import { limits } from '../../limits.js';
import { type BranchTiming, type BranchTimings, timingOn } from '../../planning/estimating/branch-timings.js';
import { knownTimes, timesOfCases } from '../../planning/estimating/known-times.js';
import { rangeOfCases } from './codecs/path-keys.js';
import { decodeTimingOn, decodeTimings } from './codecs/timing-codec.js';
import type { Parts } from './parts.js';
import { branchesOf } from './writes/apply-times.js';

export function lmdbTimings(parts: Pick<Parts, 'projects' | 'paths' | 'pathNames' | 'timings' | 'pathNumbers' | 'timingBuffer'>) {
  const { projects, paths, pathNames, timings, pathNumbers, timingBuffer } = parts;

  function timingOf(project: number, path: string, branch: number, defaultBranch: number | null): BranchTiming | undefined {
    const number = pathNumbers.get(project, path);
    if (number === undefined) return undefined;
    const buffered = timingBuffer.get(number);
    if (buffered) return timingOn(buffered.timings, branch, defaultBranch);
    // Another thread may have deleted the path under this number and given the path a new one.
    const bytes = timings.getBinaryFast(number) ?? timings.getBinaryFast(pathNumbers.read(project, path) ?? number);
    return bytes && decodeTimingOn(bytes, branch, defaultBranch);
  }

  function timingsOf(number: number): BranchTimings {
    const buffered = timingBuffer.get(number);
    if (buffered) return buffered.timings;
    const bytes = timings.getBinaryFast(number);
    return bytes ? decodeTimings(bytes).timings : [];
  }

  function casesOf(project: number, file: string, limit: number): BranchTimings[] {
    return [...paths.getRange({ ...rangeOfCases(project, file), limit })].map(({ value: number }) => timingsOf(number));
  }

  return {
    estimates(project, branchName, listed, mostCases) {
      const branches = branchesOf(parts, project, branchName);
      const { branch, defaultBranch } = branches;
      const cases = (file: string, limit: number) => casesOf(project, file, limit);
      const hasCases = projects.get(project)?.has_test_cases ?? false;
      const timing = (path: string) => timingOf(project, path, branch, defaultBranch);
      return knownTimes(listed, { ...branches, timing, cases: hasCases ? cases : null }, mostCases);
    },
    cases(project, branchName, file) {
      const { branch, defaultBranch } = branchesOf(parts, project, branchName);
      return timesOfCases(casesOf(project, file, limits.testCasesPerFile), branch, defaultBranch);
    },
    list(from, limit) {
      const known: KnownPath[] = [];
      for (const { key: number, value: name } of pathNames.getRange({ start: from })) {
        if (known.length === limit) break;
        const bytes = timings.get(number);
        const found = timingBuffer.get(number) ?? (bytes && decodeTimings(bytes));
        // The project of a path is unknown if its timings are lost.
        if (found) known.push({ number, path: JSON.parse(name) as string, ...found });
      }
      return known;
    },
  } satisfies Timings;
}
