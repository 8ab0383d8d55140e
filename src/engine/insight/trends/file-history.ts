import { limits } from '../../../limits.js';
import { changePoints } from '../../../planning/estimating/change-point.js';
import { replay } from '../../../planning/estimating/replay.js';
import { timestamp } from '../../../time.js';
import type { Build, Builds } from '../../ports/builds.js';
import type { Millis, Store } from '../../ports/store.js';
import { rounded } from '../rounding.js';
import { decidingPath, isOutOfDate, type Trend } from './summary.js';
import type { FileHistory, FilePoint } from './trends-answer.js';

/** The last time that a build recorded for a file, in seconds. */
interface Time {
  build: Build;
  at: Millis;
  node_index: number;
  seconds: number;
}

/** A file over the last builds of a branch. */
export async function fileHistory(
  { builds, summaries }: Pick<Store, 'builds' | 'summaries'>,
  { project, branch, path }: { project: number; branch: string; path: string },
): Promise<Trend<FileHistory>> {
  const answer: FileHistory = { path, branch, points: [], changes: [], decided: [], cut_saves: null };
  const outdated: Build[] = [];
  const number = await builds.pathNumber(project, path);
  if (number === null) return { answer, outdated };
  const times: Time[] = [];
  let files = 0;
  for (const build of (await builds.older(project, { branch }, null, limits.trendBuilds)).builds) {
    files += build.test_files;
    if (files > limits.trendTestFiles && files > build.test_files) break;
    const run = await lastTime(builds, build, number);
    if (!run) continue;
    times.push({ build, ...run });
    const summary = await summaries.get(build.number);
    if (isOutOfDate(build, summary)) outdated.push(build);
    if (decidingPath(summary) === path)
      answer.decided.push({ ...inBuild({ build, at: build.created_at }), seconds: summary!.line.last?.seconds ?? 0 });
    answer.cut_saves ??= rounded(await savedByCut(builds, build, run.seconds));
  }
  times.reverse();
  const expected = replay(times);
  answer.points = times.map((time, i): FilePoint => {
    const before = expected[i] ?? null;
    return {
      ...inBuild(time),
      node_index: time.node_index,
      seconds: rounded(time.seconds),
      estimate: before && rounded(before.estimate),
      low: before && rounded(before.low),
      high: before && rounded(before.high),
    };
  });
  answer.changes = changePoints(times.map(({ seconds }) => seconds)).map(({ index, before, after }) => {
    return { ...inBuild(times[index]!), factor: rounded(after / before), before: rounded(before), after: rounded(after) };
  });
  return { answer, outdated };
}

function inBuild({ build, at }: Pick<Time, 'build' | 'at'>) {
  return { build_id: build.id, commit_hash: build.commit_hash, at: timestamp(at) };
}

/** Null: the build recorded none. */
async function lastTime(builds: Builds, { number }: Build, path: number): Promise<Omit<Time, 'build'> | null> {
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
