import { limits } from '../../../limits.js';
import { DAY_MILLISECONDS } from '../../../time.js';
import type { BuildFilter } from '../../keys.js';
import type { Build } from '../../ports/builds.js';
import type { CiRun } from '../../ports/ci-runs.js';
import type { Millis, Store } from '../../ports/store.js';
import type { DaySummary, Summary } from '../../ports/summaries.js';
import { addDays, dayOf, emptyDay } from './days.js';
import { isOutOfDate } from './summary.js';

export interface LinesRequest {
  filter: BuildFilter;
  /** Only builds with files that failed. */
  failed: boolean;
  /** Only builds with lower numbers; null: all, and the running CI runs first. */
  before: number | null;
  limit: number;
}

/** A build, or a CI run of which nothing is recorded yet. */
export interface Line {
  build: Build | null;
  ciRun: CiRun | null;
  isRunning: boolean;
  summary: Summary | null;
}

export interface Lines {
  lines: Line[];
  /** The number of the last build that was read; null: there is no older one. */
  last: number | null;
  /** How many builds the filter finds. */
  total: number;
  /** With `failed`: builds were searched back to this time; null: to the first one. */
  searchedTo: Millis | null;
  /** Builds whose summaries are to be written again. */
  outdated: Build[];
}

type LineStore = Pick<Store, 'builds' | 'ciRuns' | 'summaries'>;

/** A part of a list of builds with their summaries, newest first. It reads a few records for each, whatever the number of builds. */
export async function buildLines(store: LineStore, project: number, request: LinesRequest, now: Millis): Promise<Lines> {
  const { filter, failed, before, limit } = request;
  const lines: Line[] = before === null && !failed ? await runningLines(store, project, filter, now) : [];
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
      if (failed && !((summary?.failed ?? 0) > 0)) continue;
      const [ciRun = null] = await store.ciRuns.ofBuild(project, build);
      lines.push({ build, ciRun, isRunning: isRunning(build, summary, now), summary });
    }
    searched += builds.length;
    const isEnd = builds.length <= wanted && last === (builds.at(-1) ?? last);
    if (!isEnd && failed && lines.length < most && searched < limits.summariesSearched) continue;
    const position = isEnd ? null : last;
    return { lines, last: position?.number ?? null, total, searchedTo: failed ? (position?.created_at ?? null) : null, outdated };
  }
}

/** CI runs that have begun and of which nothing is recorded yet, newest first. */
async function runningLines({ builds, ciRuns }: LineStore, project: number, filter: BuildFilter, now: Millis): Promise<Line[]> {
  const lines: Line[] = [];
  for (const ciRun of await ciRuns.list(project, now + 1, limits.unrecordedRunsSearched)) {
    if (lines.length === limits.runningLines || ciRun.created_at <= now - limits.unrecordedRunMilliseconds) break;
    if (!matches(ciRun, filter)) continue;
    const build = await builds.find(project, ciRun);
    if (!build || build.recorded <= ciRun.runs_before) lines.push({ build, ciRun, isRunning: true, summary: null });
  }
  return lines;
}

/** Without a summary that is up to date, a build counts as running until the summary would be. */
function isRunning(build: Build, summary: Summary | null, now: Millis): boolean {
  if (summary && summary.recorded === build.recorded) return summary.is_running;
  return now - build.updated_at < limits.summaryLatestMilliseconds;
}

function matches(key: CiRun, filter: BuildFilter): boolean {
  const { branch = key.branch, commit_hash = key.commit_hash, node_total = key.node_total } = filter;
  return key.branch === branch && key.commit_hash === commit_hash && key.node_total === node_total;
}

/** The state of a project. It is read from summaries, so its cost does not grow with the number of builds. */
export interface Overview {
  today: DaySummary;
  /** Builds of today with files that were planned and not recorded, without those that are running. */
  incompleteToday: number;
  running: number;
  /** The last day with builds; null: there is none in the last 30 days. */
  lastDay: DaySummary | null;
  /** The last 30 days, added up. */
  month: DaySummary;
  /** The last builds that have ended and have a summary, oldest first. */
  recent: { build: Build; summary: Summary }[];
  /** Builds whose summaries are to be written again. */
  outdated: Build[];
}

const MONTH_DAYS = 30;

export async function overviewOf(store: Pick<Store, 'builds' | 'ciRuns' | 'summaries'>, project: number, now: Millis): Promise<Overview> {
  const today = Math.floor(now / DAY_MILLISECONDS);
  const days = await store.summaries.days(project, null, today - MONTH_DAYS + 1, today);
  const request = { filter: {}, failed: false, before: null, limit: limits.recentBuilds };
  const { lines, outdated } = await buildLines(store, project, request, now);
  const unfinished = lines.filter(({ isRunning, summary }) => isRunning && summary && summary.missing > 0 && dayOf(summary) === today);
  const counted = days.find(({ day }) => day === today) ?? emptyDay(today);
  const recent = lines.flatMap(({ build, summary, isRunning }) => (build && summary && !isRunning ? [{ build, summary }] : []));
  return {
    today: counted,
    incompleteToday: Math.max(0, counted.incomplete - unfinished.length),
    running: lines.filter(({ isRunning }) => isRunning).length,
    lastDay: days.at(-1) ?? null,
    month: days.reduce(addDays, emptyDay(today)),
    recent: recent.reverse(),
    outdated,
  };
}
