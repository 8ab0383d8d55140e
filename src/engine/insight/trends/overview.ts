import { limits } from '../../../limits.js';
import { DAY_MILLISECONDS, timestamp } from '../../../time.js';
import { type BuildFilter, matches } from '../../keys.js';
import type { Project } from '../../ports/access.js';
import type { Build } from '../../ports/builds.js';
import type { CiRun } from '../../ports/ci-runs.js';
import type { Millis, Store } from '../../ports/store.js';
import type { Summary } from '../../ports/summaries.js';
import { wholeMilliseconds } from '../rounding.js';
import { completeBuilds, dateOf, emptyDay, medianWall, plannedBuilds } from './days.js';
import { idleShare, isOutOfDate, type Trend } from './summary.js';
import type { BuildLine, BuildLines, ProjectOverview } from './trends-answer.js';

export interface LinesRequest {
  filter: BuildFilter;
  /** Only builds with files that failed. */
  failed: boolean;
  /** `next` of the lines before; null: all, and the running CI runs first. */
  cursor: string | null;
  limit: number;
}

/** A cursor is the number of a build in this base. */
const CURSOR_BASE = 36;

type LineStore = Pick<Store, 'builds' | 'ciRuns' | 'summaries'>;

/** A part of a list of builds with their summaries, newest first. It reads a few records for each, whatever the number of builds. */
export async function buildLines(store: LineStore, project: number, request: LinesRequest, now: Millis): Promise<Trend<BuildLines>> {
  const { filter, failed, cursor, limit } = request;
  const before = cursor === null ? null : Number.parseInt(cursor, CURSOR_BASE);
  const lines: BuildLine[] = before === null && !failed ? await runningLines(store, project, filter, now) : [];
  const outdated: Build[] = [];
  const most = lines.length + limit;
  let last: Build | null = null;
  for (let searched = 0; ; ) {
    const wanted = failed ? Math.min(limits.buildLinesPerPage, limits.summariesSearched - searched) : limit;
    // One more shows whether there is an older one.
    const { total, builds } = await store.builds.older(project, filter, last?.number ?? before, wanted + 1);
    for (const [i, build] of builds.entries()) {
      if (lines.length === most || i === wanted) break;
      const summary = await store.summaries.get(build.number);
      last = build;
      if (isOutOfDate(build, summary)) outdated.push(build);
      if (failed && !((summary?.line.failed ?? 0) > 0)) continue;
      const [ciRun = null] = await store.ciRuns.ofBuild(project, build);
      lines.push(lineOf(build, ciRun, isRunning(build, summary, now), summary));
    }
    searched += builds.length;
    const isEnd = builds.length <= wanted && last === (builds.at(-1) ?? last);
    if (!isEnd && failed && lines.length < most && searched < limits.summariesSearched) continue;
    const position = isEnd ? null : last;
    const answer = {
      builds: lines,
      next: position === null ? null : position.number.toString(CURSOR_BASE),
      total,
      searched_to: failed && position ? timestamp(position.created_at) : null,
      similar: null,
    };
    return { answer, outdated };
  }
}

/** CI runs that have begun and of which nothing is recorded yet, newest first. */
async function runningLines({ builds, ciRuns }: LineStore, project: number, filter: BuildFilter, now: Millis): Promise<BuildLine[]> {
  const lines: BuildLine[] = [];
  for (const ciRun of await ciRuns.list(project, now + 1, limits.unrecordedRunsSearched)) {
    if (lines.length === limits.runningLines || ciRun.created_at <= now - limits.unrecordedRunMilliseconds) break;
    if (!matches(ciRun, filter)) continue;
    const build = await builds.find(project, ciRun);
    if (!build || build.recorded <= ciRun.runs_before) lines.push(lineOf(build, ciRun, true, null));
  }
  return lines;
}

function lineOf(build: Build | null, ciRun: CiRun | null, is_running: boolean, summary: Summary | null): BuildLine {
  const { commit_hash, branch, node_total, created_at } = (build ?? ciRun)!;
  return {
    build_id: build?.id ?? null,
    ci_run_id: ciRun?.id ?? null,
    ci_run: ciRun?.ci_run ?? null,
    ...{ commit_hash, branch, node_total },
    created_at: timestamp(created_at),
    started_at: timestamp(summary?.started_at ?? ciRun?.created_at ?? created_at),
    is_running,
    summary: summary?.line ?? null,
  };
}

/** Without a summary that is up to date, a build counts as running until the summary would be. */
function isRunning(build: Build, summary: Summary | null, now: Millis): boolean {
  if (summary && summary.recorded === build.recorded) return summary.is_running;
  return now - build.updated_at < limits.summaryLatestMilliseconds;
}

const MONTH_DAYS = 30;

/** The state of a project. It is read from summaries, so its cost does not grow with the number of builds. */
export async function overviewOf(
  store: LineStore,
  { id, name, default_branch }: Pick<Project, 'id' | 'name' | 'default_branch'>,
  now: Millis,
): Promise<Trend<ProjectOverview>> {
  const today = Math.floor(now / DAY_MILLISECONDS);
  const days = await store.summaries.days(id, null, today - MONTH_DAYS + 1, today);
  const request = { filter: {}, failed: false, cursor: null, limit: limits.recentBuilds };
  const { answer, outdated } = await buildLines(store, id, request, now);
  const { sums } = days.find(({ day }) => day === today) ?? emptyDay(today);
  const measured = days.findLast(day => completeBuilds(day) > 0) ?? null;
  const recent = answer.builds.flatMap(({ build_id, summary, is_running }) => {
    if (build_id === null || !summary || is_running) return [];
    const { kind, wall, floor, failed, missing } = summary;
    return [{ build_id, kind, wall, floor, failed, missing }];
  });
  const overview = {
    ...{ id, name, default_branch },
    builds_today: sums.builds,
    incomplete_today: sums.incomplete,
    unplanned_today: sums.unplanned,
    with_failures_today: sums.with_failures,
    passed_today: sums.passed,
    running: answer.builds.filter(({ is_running }) => is_running).length,
    median_wall: measured && medianWall(measured),
    idle_share: measured && idleShare(measured.sums),
    measured_day: measured && dateOf(measured.day),
    saved_30_days: wholeMilliseconds(days.reduce((sum, day) => sum + day.sums.saved, 0)),
    builds_30_days: days.reduce((sum, day) => sum + plannedBuilds(day), 0),
    recent: recent.reverse(),
  };
  return { answer: overview, outdated };
}
