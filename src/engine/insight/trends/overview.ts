import { limits } from '../../../limits.js';
import { DAY_MILLISECONDS, timestamp } from '../../../time.js';
import { type BuildFilter, buildDigest, matches, type ProjectBuild } from '../../keys.js';
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
  /** Only builds that were first recorded in this time, in milliseconds since 1970: from its beginning until before its end. */
  created: Period;
  /** `next` of the lines before; null: all, and the running CI runs first. */
  cursor: string | null;
  limit: number;
}

export interface Period {
  from: Millis;
  before: Millis;
}

/** All builds. */
export const ALWAYS: Period = { from: -Infinity, before: Infinity };

/** A cursor is the number of a build in this base. */
const CURSOR_BASE = 36;

type LineStore = Pick<Store, 'builds' | 'ciRuns' | 'summaries'>;

/**
 * A part of a list of builds with their summaries, newest first: at most `limit` recorded ones, and those between them of which nothing was
 * recorded. It reads a few records for each, whatever the number of builds.
 */
export async function buildLines(store: LineStore, project: number, request: LinesRequest, now: Millis): Promise<Trend<BuildLines>> {
  const { filter, failed, created, cursor, limit } = request;
  const before = cursor === null ? await firstFrom(store, created.before) : Number.parseInt(cursor, CURSOR_BASE);
  const running = cursor === null && !failed ? await runningLines(store, project, { filter, created }, now) : [];
  const lines: BuildLine[] = [];
  const outdated: ProjectBuild[] = [];
  let last: Build | null = null;
  let isOver = false;
  for (let searched = 0; ; ) {
    const wanted = failed ? Math.min(limits.buildLinesPerPage, limits.summariesSearched - searched) : limit;
    // One more shows whether there is an older one.
    const { total, builds } = await store.builds.older(project, filter, last?.number ?? before, wanted + 1);
    for (const [i, build] of builds.entries()) {
      if (lines.length === limit || i === wanted) break;
      isOver = build.created_at < created.from;
      if (isOver) break;
      const summary = await store.summaries.get(build.number);
      last = build;
      if (isOutOfDate(build, summary)) outdated.push(build);
      if (failed && !((summary?.line.failed ?? 0) > 0)) continue;
      const [ciRun = null] = await store.ciRuns.ofBuild(project, build);
      if (ciRun && running.some(({ ci_run_id }) => ci_run_id === ciRun.id)) continue;
      lines.push(lineOf(build, ciRun, isRunning(build, summary, now), summary));
    }
    searched += builds.length;
    const isEnd = isOver || (builds.length <= wanted && last === (builds.at(-1) ?? last));
    if (!isEnd && failed && lines.length < limit && searched < limits.summariesSearched) continue;
    const position = isEnd ? null : last;
    const [above] = before === null ? [] : await store.builds.list(before, 1);
    const times = {
      from: Math.max(created.from, position?.created_at ?? -Infinity),
      before: Math.min(created.before, above?.created_at ?? now + 1),
    };
    const unrecorded = failed ? [] : await unrecordedLines(store, project, filter, times);
    const answer = {
      builds: [
        ...running,
        ...[...lines, ...unrecorded].sort((a, b) => Number(a.created_at < b.created_at) - Number(a.created_at > b.created_at)),
      ],
      next: position === null ? null : position.number.toString(CURSOR_BASE),
      total,
      searched_to: failed && position ? timestamp(position.created_at) : null,
      similar: null,
    };
    return { answer, outdated };
  }
}

/** What a list can be sorted by. */
export const LINE_KEYS = {
  started: ({ started_at }) => Date.parse(started_at),
  nodes: ({ node_total }) => node_total,
  wall: ({ summary }) => summary?.wall ?? null,
  idle: ({ summary }) => summary?.idle_share ?? null,
  failed: ({ summary }) => summary?.failed ?? null,
  missing: ({ summary }) => summary?.missing ?? null,
  saved: ({ summary }) => (summary?.missing === 0 && summary.kind !== 'recordings' ? summary.saved : null),
} as const satisfies Record<string, (line: BuildLine) => number | null>;

export type LineKey = keyof typeof LINE_KEYS;

/**
 * The first lines in another order than by time, of the newest `limits.summariesSearched` builds that are found. What a build does not have
 * comes last.
 */
export async function sortedLines(
  store: LineStore,
  project: number,
  { limit, ...request }: Omit<LinesRequest, 'cursor'>,
  { key, isDescending }: { key: LineKey; isDescending: boolean },
  now: Millis,
): Promise<Trend<BuildLines>> {
  const { answer, outdated } = await buildLines(store, project, { ...request, cursor: null, limit: limits.summariesSearched }, now);
  const keyed = answer.builds.map(line => ({ line, value: LINE_KEYS[key](line) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
    return isDescending ? b.value - a.value : a.value - b.value;
  });
  const oldest = answer.next === null ? null : (answer.searched_to ?? answer.builds.at(-1)!.created_at);
  return { answer: { ...answer, builds: keyed.slice(0, limit).map(({ line }) => line), next: null, searched_to: oldest }, outdated };
}

/**
 * The number of the first build of all projects that was created at a time or later, null: none was. Builds are numbered in the order of
 * their creation.
 */
async function firstFrom({ builds }: LineStore, time: Millis): Promise<number | null> {
  if (time === Infinity) return null;
  const isLate = async (number: number) => {
    const [build] = await builds.list(number, 1);
    return build ? build.created_at >= time : true;
  };
  let least = 0;
  let most = 1;
  while (!(await isLate(most))) most *= 2;
  while (most - least > 1) {
    const middle = least + Math.floor((most - least) / 2);
    if (await isLate(middle)) most = middle;
    else least = middle;
  }
  return most;
}

/** Builds of which nothing was recorded, whose last CI runs have ended, and began in this time. */
async function unrecordedLines(
  { summaries }: LineStore,
  project: number,
  filter: BuildFilter,
  { from, before }: { from: Millis; before: Millis },
): Promise<BuildLine[]> {
  const ended = await summaries.unrecorded(project, before, limits.summariesSearched);
  const found = ended.filter(({ ciRun }) => ciRun.created_at >= from && matches(ciRun, filter));
  // One that goes on again is listed with those that run.
  return found.flatMap(({ ciRun, summary }) => (summary.is_running ? [] : lineOf(null, ciRun, false, summary)));
}

/** Builds whose newest CI run goes on, as far as it is known, and of which nothing is recorded yet, newest first. */
async function runningLines(
  store: LineStore,
  project: number,
  { filter, created }: Pick<LinesRequest, 'filter' | 'created'>,
  now: Millis,
): Promise<BuildLine[]> {
  const { builds, ciRuns, summaries } = store;
  const lines: BuildLine[] = [];
  const seen = new Set<string>();
  for (const ciRun of await ciRuns.list(project, now + 1, limits.unrecordedRunsSearched)) {
    if (lines.length === limits.runningLines || ciRun.created_at <= now - limits.unrecordedRunMilliseconds) break;
    const key = buildDigest(project, ciRun);
    if (!matches(ciRun, filter) || seen.has(key) || ciRun.created_at < created.from || ciRun.created_at >= created.before) continue;
    seen.add(key);
    const build = await builds.find(project, ciRun);
    if (build && build.recorded > ciRun.runs_before) continue;
    const summary = await (build ? summaries.get(build.number) : summaries.ofUnrecorded(ciRun));
    const hasEnded = summary !== null && summary.started_at >= ciRun.created_at && !summary.is_running;
    if (!hasEnded) lines.push(lineOf(build, ciRun, true, null));
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
    is_cancelled: !is_running && summary?.is_cancelled === true,
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
  const request = { filter: {}, failed: false, created: ALWAYS, cursor: null, limit: limits.recentBuilds };
  const { answer, outdated } = await buildLines(store, id, request, now);
  const { sums } = days.find(({ day }) => day === today) ?? emptyDay(today);
  const measured = days.findLast(day => completeBuilds(day) > 0) ?? null;
  const recent = answer.builds.flatMap(({ build_id, ci_run_id, summary, is_running, is_cancelled }) => {
    if (!summary || is_running) return [];
    const { kind, wall, floor, failed, missing } = summary;
    return [{ id: build_id ?? ci_run_id!, is_cancelled, kind, wall, floor, failed, missing }];
  });
  const overview = {
    ...{ id, name, default_branch },
    builds_today: sums.builds,
    incomplete_today: sums.incomplete,
    cancelled_today: sums.cancelled ?? 0,
    unplanned_today: sums.unplanned,
    with_failures_today: sums.with_failures,
    passed_today: sums.passed,
    running: answer.builds.filter(({ is_running }) => is_running).length,
    median_wall: measured && medianWall(measured),
    idle_share: measured && idleShare(measured.sums),
    measured_day: measured && dateOf(measured.day),
    saved_30_days: wholeMilliseconds(days.reduce((sum, day) => sum + day.sums.saved, 0)),
    builds_30_days: days.reduce((sum, day) => sum + plannedBuilds(day), 0),
    recent: recent.slice(0, limits.recentBuilds).reverse(),
  };
  return { answer: overview, outdated };
}
