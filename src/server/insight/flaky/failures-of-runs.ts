import { groupBy } from '../../../base/group-by.js';
import { wholeMilliseconds } from '../../../base/rounding.js';
import type { RunHead, RunTimes } from '../../engine/ports/builds.js';
import type { BuildFailures, FileFailure, Outage } from '../../engine/ports/failures.js';
import { hasRun, isFailure, outcomeOf } from '../../engine/test-file.js';

/** A recorded run of a node, by the numbers of its paths. */
export interface NodeRun extends RunTimes, Pick<RunHead, 'node_index' | 'created_at'> {}

/** The recorded runs of a CI run, in the order of recording. */
export interface RecordedCiRun {
  /** What an outcome depends on besides the commit: CI runs with different settings are not compared. */
  setting: string;
  runs: readonly NodeRun[];
}

/** So many files that fail together, or more, are a group: three of four flaky tests fail with others (Parry et al., Systemic Flakiness, 2025). */
export const GROUP_FILES = 5;
/** On a node, only if so many were not flaky in other builds: known flaky files may fail at once by chance, and one other, but not two. */
const GROUP_UNKNOWN_FILES = 2;
/** More than this part of a CI run is a group of all nodes, also if each of its files was flaky before. */
const GROUP_PART = 0.1;
/** Files of a build that are kept, flaky ones first. */
const MOST_FILES = 1000;

/** An execution that failed, or that the test runner tried again. */
interface Failure {
  ciRun: number;
  run: NodeRun;
  path: number;
  /** The test runner tried it again itself, and it passed. */
  hasPassed: boolean;
}

/** Lists the failures of executions that ended. A file that could not be loaded, hung or was cut off has no time. */
function failuresOf(ciRuns: readonly Pick<RecordedCiRun, 'runs'>[]): Failure[] {
  const failures: Failure[] = [];
  for (const [ciRun, { runs }] of ciRuns.entries())
    for (const run of runs)
      for (let i = 0; i < run.paths.length; i++) {
        const outcome = outcomeOf(run.outcomes[i]!);
        if ((!isFailure(outcome) && outcome !== 'flaky') || !hasRun(run.seconds[i]!)) continue;
        failures.push({ ciRun, run, path: run.paths[i]!, hasPassed: outcome === 'flaky' });
      }
  return failures;
}

/** The paths that failed anywhere. With fewer than `GROUP_FILES`, it does not matter which were flaky in other builds. */
export function failedPaths(ciRuns: readonly Pick<RecordedCiRun, 'runs'>[]): Set<number> {
  return pathsOf(failuresOf(ciRuns));
}

/**
 * Finds the flaky files of a build: those that failed and passed at its commit, in one CI run or in two with the same setting. Files that
 * failed in a group tell nothing about themselves.
 *
 * @param ciRuns oldest first
 * @param flakyBefore the paths that were flaky in other builds
 */
export function failuresOfRuns(ciRuns: readonly RecordedCiRun[], flakyBefore: ReadonlySet<number>): Omit<BuildFailures, 'at'> {
  const all = failuresOf(ciRuns);
  const { outages, single } = withoutGroups(ciRuns, all, flakyBefore);
  const passes = passesOf(ciRuns, pathsOf(single));
  const byPath = groupBy(single, ({ path }) => path);
  const files = [...byPath].flatMap(([path, failures]): FileFailure[] => {
    const passed = passes.get(path);
    const isFlaky = failures.some(({ ciRun, hasPassed }) => hasPassed || passed?.settings.has(ciRuns[ciRun]!.setting));
    // It passed with another list or other keys: nobody knows why.
    if (!isFlaky && passed) return [];
    const [{ run, hasPassed }] = failures as [Failure, ...Failure[]];
    const seconds = run.seconds[run.paths.indexOf(path)]!;
    // If the test runner repeated it by itself, they are the seconds of all.
    const slowdown = !hasPassed && passed && seconds > 0 && passed.seconds > 0 ? seconds / passed.seconds : null;
    return [{ path, isFlaky, node_index: run.node_index, before: null, slowdown, cases: [], seconds: 0, later: 0 }];
  });
  addPrice(files, ciRuns, all);
  return { outages, files: files.sort((a, b) => Number(b.isFlaky) - Number(a.isFlaky)).slice(0, MOST_FILES) };
}

function pathsOf(failures: readonly Failure[]): Set<number> {
  return new Set(failures.map(({ path }) => path));
}

/**
 * Takes out what failed in groups: many files of a node, unless nearly all were flaky before; or a part of all files of a CI run. Only flakes count
 * as before, not failures: among many files, some were broken before.
 */
function withoutGroups(ciRuns: readonly RecordedCiRun[], failures: readonly Failure[], flakyBefore: ReadonlySet<number>) {
  const outages: Outage[] = [];
  const single: Failure[] = [];
  let most: number | null = null;
  for (const ofCiRun of groupBy(failures, ({ ciRun }) => ciRun).values()) {
    const failed = pathsOf(ofCiRun).size;
    if (failed >= GROUP_FILES && failed > GROUP_PART * (most ??= mostFiles(ciRuns))) {
      outages.push({ node_index: null, files: failed });
      continue;
    }
    for (const [node_index, ofNode] of groupBy(ofCiRun, ({ run }) => run.node_index)) {
      const paths = pathsOf(ofNode);
      const unknown = [...paths].filter(path => !flakyBefore.has(path)).length;
      if (paths.size >= GROUP_FILES && unknown >= GROUP_UNKNOWN_FILES) outages.push({ node_index, files: paths.size });
      else single.push(...ofNode);
    }
  }
  return { outages, single };
}

/** The files of the largest CI run: one that was started again may have only those that failed. */
function mostFiles(ciRuns: readonly RecordedCiRun[]): number {
  return Math.max(...ciRuns.map(({ runs }) => new Set(runs.flatMap(({ paths }) => [...paths])).size));
}

/** How a path passed. */
interface Passes {
  /** The settings with which it passed. */
  settings: Set<string>;
  /** What it took when it first passed. */
  seconds: number;
}

/** The passes of each of these paths. */
function passesOf(ciRuns: readonly RecordedCiRun[], paths: ReadonlySet<number>): Map<number, Passes> {
  const passes = new Map<number, Passes>();
  if (paths.size === 0) return passes;
  for (const { setting, runs } of ciRuns)
    for (const run of runs)
      for (let i = 0; i < run.paths.length; i++) {
        const path = run.paths[i]!;
        if (!paths.has(path) || !hasRun(run.seconds[i]!)) continue;
        const outcome = outcomeOf(run.outcomes[i]!);
        if (outcome !== 'passed' && outcome !== 'flaky') continue;
        const known = passes.get(path);
        if (known) known.settings.add(setting);
        else passes.set(path, { settings: new Set([setting]), seconds: run.seconds[i]! });
      }
  return passes;
}

/** What the nodes of a CI run did at first, or when some or all of their jobs were started again. */
interface Attempt {
  runs: NodeRun[];
  failed: Set<number>;
}

/** When a node runs a file again that failed on it before in the CI run, its next attempt begins. */
function attemptsOf({ runs }: RecordedCiRun, failures: readonly Failure[]): Attempt[] {
  const failedIn = (run: NodeRun) => failures.filter(failure => failure.run === run && !failure.hasPassed).map(({ path }) => path);
  const failedOn = new Map<number, Set<number>>();
  const attempts: Attempt[] = [];
  const place = new Map<number, number>();
  for (const run of runs) {
    const { node_index } = run;
    const before = failedOn.get(node_index) ?? new Set();
    const isAgain = before.size > 0 && run.paths.some(path => before.has(path));
    const at = (place.get(node_index) ?? 0) + Number(isAgain);
    const attempt = (attempts[at] ??= { runs: [], failed: new Set() });
    attempt.runs.push(run);
    for (const path of failedIn(run)) {
      attempt.failed.add(path);
      before.add(path);
    }
    place.set(node_index, at);
    failedOn.set(node_index, before);
  }
  return attempts;
}

/**
 * Adds what flaky files cost. Within an attempt it is what ran of the file besides one failure. The time of an attempt after one in which only flaky
 * files failed is divided among these, and so is the time by which the build ended later.
 */
function addPrice(files: readonly FileFailure[], ciRuns: readonly RecordedCiRun[], failures: readonly Failure[]): void {
  const flaky = new Map(files.filter(({ isFlaky }) => isFlaky).map(file => [file.path, file]));
  if (flaky.size === 0) return;
  const attempts = ciRuns.flatMap((ciRun, i) =>
    attemptsOf(
      ciRun,
      failures.filter(failure => failure.ciRun === i),
    ),
  );
  for (const [i, { runs, failed }] of attempts.entries()) {
    for (const path of failed) {
      const file = flaky.get(path);
      if (file) file.seconds += secondsBesidesFailure(runs, path);
    }
    const next = attempts[i + 1];
    if (!next || failed.size === 0 || ![...failed].every(path => flaky.has(path))) continue;
    const later = Math.max(0, endOf(next) - endOf({ runs })) / 1000;
    const seconds = next.runs.reduce((sum, run) => run.seconds.reduce((all, each) => all + each, sum), 0);
    for (const path of failed) {
      const file = flaky.get(path)!;
      file.seconds += seconds / failed.size;
      file.later += later / failed.size;
    }
  }
  for (const file of flaky.values())
    Object.assign(file, { seconds: wholeMilliseconds(file.seconds), later: wholeMilliseconds(file.later) });
}

function endOf({ runs }: Pick<Attempt, 'runs'>): number {
  return runs.reduce((end, { created_at }) => Math.max(end, created_at), 0);
}

/** Seconds of all executions of a file in an attempt but its first failure. */
function secondsBesidesFailure(runs: readonly NodeRun[], path: number): number {
  const executions = runs.flatMap(run => {
    const at = run.paths.indexOf(path);
    return at === -1 ? [] : { seconds: run.seconds[at]!, hasFailed: isFailure(outcomeOf(run.outcomes[at]!)) };
  });
  const first = executions.findIndex(({ hasFailed }) => hasFailed);
  return executions.reduce((sum, { seconds }, i) => (i === first ? sum : sum + seconds), 0);
}
