import { limits } from '../../../limits.js';
import { changePoints } from '../../../planning/estimating/change-point.js';
import { type Expected, replay } from '../../../planning/estimating/replay.js';
import type { Build, Builds } from '../../ports/builds.js';
import type { Millis, Store } from '../../ports/store.js';
import { isOutOfDate } from './summary.js';

/** A file over the last builds of a branch, oldest first. Durations are seconds. */
export interface FileHistory {
  points: Point[];
  changes: { point: Point; before: number; after: number }[];
  /** Builds that it decided, newest first, and by how much the last node was later than the one before. */
  decided: { build: Build; seconds: number }[];
  /** See `savedByCut`; null: no build measured it. */
  cutSaves: number | null;
  /** Builds whose summaries are to be written again. */
  outdated: Build[];
}

export interface Point {
  build: Build;
  at: Millis;
  node_index: number;
  seconds: number;
  /** What was expected before this build; null: none was measured before. */
  expected: Expected | null;
}

type HistoryStore = Pick<Store, 'builds' | 'summaries'>;

export async function fileHistory(
  { builds, summaries }: HistoryStore,
  project: number,
  branch: string,
  path: string,
): Promise<FileHistory> {
  const history: FileHistory = { points: [], changes: [], decided: [], cutSaves: null, outdated: [] };
  const number = await builds.pathNumber(project, path);
  if (number === null) return history;
  const times: Omit<Point, 'expected'>[] = [];
  let files = 0;
  for (const build of (await builds.older(project, { branch }, null, limits.trendBuilds)).builds) {
    files += build.test_files;
    if (files > limits.trendTestFiles && files > build.test_files) break;
    const run = await lastTime(builds, build, number);
    if (!run) continue;
    times.push({ build, ...run });
    const summary = await summaries.get(build.number);
    if (isOutOfDate(build, summary)) history.outdated.push(build);
    if (summary?.decided_by === path) history.decided.push({ build, seconds: (summary.last?.milliseconds ?? 0) / 1000 });
    history.cutSaves ??= await savedByCut(builds, build, run.seconds);
  }
  times.reverse();
  const expected = replay(times);
  history.points = times.map((time, i) => ({ ...time, expected: expected[i]! }));
  history.changes = changePoints(times.map(({ seconds }) => seconds)).map(({ index, before, after }) => ({
    point: history.points[index]!,
    before,
    after,
  }));
  return history;
}

/** The last time that a build recorded for a file; null: none. */
async function lastTime(builds: Builds, { number }: Build, path: number): Promise<Pick<Point, 'at' | 'node_index' | 'seconds'> | null> {
  const newestFirst = (await builds.runs(number)).sort((a, b) => b.ordinal - a.ordinal);
  for (const head of newestFirst) {
    const run = await builds.times(number, head);
    const file = run?.paths.indexOf(path) ?? -1;
    const seconds = file === -1 ? 0 : run!.seconds[file]!;
    if (seconds > 0) return { at: head.created_at, node_index: head.node_index, seconds };
  }
  return null;
}

/**
 * How many seconds sooner a build could have ended if a file had been two of half its length: the difference of the bound
 * max(longest file, total / nodes) before and after.
 */
async function savedByCut(builds: Builds, build: Build, seconds: number): Promise<number> {
  const times = new Map<number, number>();
  for (const head of (await builds.runs(build.number)).sort((a, b) => a.ordinal - b.ordinal)) {
    const run = await builds.times(build.number, head);
    for (let i = 0; i < (run?.paths.length ?? 0); i++) times.set(run!.paths[i]!, run!.seconds[i]!);
  }
  let [total, longest, second] = [0, 0, 0];
  for (const each of times.values()) {
    total += each;
    if (each > longest) [longest, second] = [each, longest];
    else if (each > second) second = each;
  }
  if (seconds < longest) return 0;
  const share = total / build.node_total;
  return Math.max(longest, share) - Math.max(second, seconds / 2, share);
}
