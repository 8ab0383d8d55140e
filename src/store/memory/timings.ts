import { shortDigest } from '../../engine/digest.js';
import type { Build, Run } from '../../engine/ports/builds.js';
import type { KnownPath, Timings } from '../../engine/ports/timings.js';
import { limits } from '../../limits.js';
import { type BranchTiming, type BranchTimings, measureOn, timingOn } from '../../planning/estimating/branch-timings.js';
import { knownTimes, timesOfCases } from '../../planning/estimating/known-times.js';
import { fileOf } from '../../planning/estimating/test-case.js';
import type { Measurement } from '../../planning/estimating/timing.js';
import type { Tables } from './tables.js';

export function memoryTimings(tables: Tables): Timings {
  return {
    estimates(project, branchName, list, mostCases) {
      const branch = shortDigest(branchName);
      const defaultBranch = defaultBranchOf(tables, project);
      const timing = (path: string) => timingOn(tables.paths.get(pathKey(project, path))?.timings ?? [], branch, defaultBranch);
      const each = (report: (file: number, known: BranchTiming) => void) => {
        for (let file = 0; file < list.length; file++) {
          const known = timing(list.at(file));
          if (known) report(file, known);
        }
      };
      const casesByFile = testCases(tables, project);
      const cases = (file: string, limit: number) => (casesByFile.get(file) ?? []).slice(0, limit);
      return knownTimes(list, { branch, defaultBranch, each, timing, cases }, mostCases);
    },
    cases(project, branchName, file) {
      const cases = (testCases(tables, project).get(file) ?? []).slice(0, limits.testCasesPerFile);
      return timesOfCases(cases, shortDigest(branchName), defaultBranchOf(tables, project));
    },
    list: (from, limit) => [...tables.paths.values()].filter(({ number }) => number >= from).slice(0, limit),
  };
}

/** Updates the timings of the paths of a run that was recorded. */
export function measurePaths(tables: Tables, { project, branch: branchName, id, created_at: began }: Build, recorded: Run): void {
  const { created_at: at, run, paths, seconds } = recorded;
  const branch = shortDigest(branchName);
  const defaultBranch = defaultBranchOf(tables, project);
  const build = shortDigest(id);
  for (const [i, path] of paths.entries()) {
    const key = pathKey(project, path);
    const known: KnownPath = tables.paths.get(key) ?? { number: ++tables.pathsCreated, project, path, seen_at: at, timings: [] };
    const measurement: Measurement = { build, seconds: seconds[i]!, at, began, run: run === 1 ? 'first' : 'retried' };
    const timings = measurement.seconds > 0 ? measureOn(known.timings, branch, defaultBranch, measurement) : null;
    tables.paths.set(key, { ...known, seen_at: Math.max(at, known.seen_at), timings: timings ?? known.timings });
  }
}

export function pathKey(project: number, path: string): string {
  return `${project} ${path}`;
}

function defaultBranchOf({ projects }: Tables, project: number): number | null {
  const name = projects.get(project)?.default_branch ?? null;
  return name === null ? null : shortDigest(name);
}

/** The timings of the test cases of each file of a project. */
function testCases({ paths }: Tables, project: number): Map<string, BranchTimings[]> {
  const cases = new Map<string, BranchTimings[]>();
  for (const { project: owner, path, timings } of paths.values()) {
    const file = owner === project ? fileOf(path) : null;
    if (file !== null) cases.set(file, [...(cases.get(file) ?? []), timings]);
  }
  return cases;
}
