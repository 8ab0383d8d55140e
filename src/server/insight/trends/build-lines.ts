import { timestamp } from '../../../base/time.js';
import type { BuildLine, BuildLines } from '../../../protocol/answers/trends.js';
import { limits } from '../../../protocol/limits.js';
import { type BuildFilter, buildDigest, matches, type ProjectBuild } from '../../engine/keys.js';
import type { Build } from '../../engine/ports/builds.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { isOutOfDate, type Period, type Summary } from '../../engine/ports/summaries.js';
import { type BuildWithSummary, type Trend, withSummaries } from './summary.js';

/** While runs of a build go on being recorded, its summary is written this much later than that of a quiet build. */
export const SUMMARY_LATEST_MILLISECONDS = 60_000;
/** Running CI runs in a list with summaries. */
const RUNNING_LINES = 20;
/** The newest CI runs that are searched for running ones. */
export const UNRECORDED_RUNS_SEARCHED = 60;
/** Summaries that one request for failed builds reads. */
const SUMMARIES_SEARCHED = 500;
/** A CI run without a recording and without a summary counts as running for this time. */
export const UNRECORDED_RUN_MILLISECONDS = 7_200_000;

export interface LinesRequest {
  filter: BuildFilter;
  /** Only builds with files that failed. */
  failed: boolean;
  /** Only builds that were first recorded in this time: from its beginning until before its end. */
  created: Period;
  /** `next` of the lines before; null: all, and the running CI runs first. */
  cursor: string | null;
  limit: number;
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
  const { filter, failed, created, cursor } = request;
  const before = cursor === null ? await firstFrom(store, created.before) : Number.parseInt(cursor, CURSOR_BASE);
  const running = cursor === null && !failed ? await runningLines(store, project, { filter, created }, now) : [];
  const [total, { found, outdated, end }] = await Promise.all([
    store.builds.count(project, filter),
    search(store, project, request, { before, running }),
  ]);
  const [above] = before === null ? [] : await store.builds.all(before, 1);
  const times = {
    from: Math.max(created.from, end?.created_at ?? -Infinity),
    before: Math.min(created.before, above?.created_at ?? now + 1),
  };
  const unrecorded = failed ? [] : await unrecordedLines(store, project, filter, times);
  const ciRuns = await store.ciRuns.newest(
    project,
    found.map(({ build }) => build),
  );
  const lines = found.map(({ build, summary }, i) => lineOf(build, ciRuns[i]!, isRunning(build, summary, now), summary));
  const ended = [...lines, ...unrecorded].sort((a, b) => Number(a.created_at < b.created_at) - Number(a.created_at > b.created_at));
  const answer = {
    builds: [...running, ...ended],
    next: end === null ? null : end.number.toString(CURSOR_BASE),
    total,
    searched_to: failed && end ? timestamp(end.created_at) : null,
    similar: null,
  };
  return { answer, outdated };
}

interface Found {
  found: BuildWithSummary[];
  outdated: ProjectBuild[];
  /** The last build that was looked at; null: there is no older one. */
  end: Build | null;
}

/** Recorded builds, newest first. Those with failures are looked for in the newest `SUMMARIES_SEARCHED`. */
async function search(
  store: LineStore,
  project: number,
  { filter, failed, created, limit }: LinesRequest,
  { before, running }: { before: number | null; running: readonly BuildLine[] },
): Promise<Found> {
  const found: BuildWithSummary[] = [];
  const outdated: ProjectBuild[] = [];
  let last: Build | null = null;
  for (let searched = 0; ; ) {
    const wanted = failed ? Math.min(limits.buildLinesPerPage, SUMMARIES_SEARCHED - searched) : limit;
    // One more shows whether there is an older one.
    const builds: Build[] = await store.builds.list(project, filter, { before: last?.number ?? before, limit: wanted + 1 });
    let isOver = false;
    for (const [i, { build, summary }] of (await withSummaries(store, builds)).entries()) {
      if (found.length === limit || i === wanted) break;
      isOver = build.created_at < created.from;
      if (isOver) break;
      last = build;
      if (isOutOfDate(build, summary)) outdated.push(build);
      if (failed && !((summary?.line.failed ?? 0) > 0)) continue;
      if (!running.some(({ build_id }) => build_id === build.id)) found.push({ build, summary });
    }
    searched += builds.length;
    const isEnd = isOver || (builds.length <= wanted && last === (builds.at(-1) ?? last));
    if (isEnd || !failed || found.length === limit || searched >= SUMMARIES_SEARCHED) return { found, outdated, end: isEnd ? null : last };
  }
}

/** Keys by which a list can be sorted. */
export const LINE_KEYS = {
  started: ({ started_at }) => Date.parse(started_at),
  nodes: ({ node_total }) => node_total,
  wall: ({ summary }) => summary?.wall ?? null,
  idle: ({ summary }) => summary?.idle_share ?? null,
  failed: ({ summary }) => summary?.failed ?? null,
  missing: ({ summary }) => summary?.missing ?? null,
  saved: ({ summary }) => summary?.saved ?? null,
} as const satisfies Record<string, (line: BuildLine) => number | null>;

export type LineKey = keyof typeof LINE_KEYS;

export interface LineOrder {
  key: LineKey;
  isDescending: boolean;
}

/**
 * The first lines in another order than by time, of the newest `SUMMARIES_SEARCHED` builds that are found. What a build does not have
 * comes last.
 */
export async function sortedLines(
  store: LineStore,
  project: number,
  { limit, ...request }: Omit<LinesRequest, 'cursor'>,
  { key, isDescending }: LineOrder,
  now: Millis,
): Promise<Trend<BuildLines>> {
  const { answer, outdated } = await buildLines(store, project, { ...request, cursor: null, limit: SUMMARIES_SEARCHED }, now);
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
    const [build] = await builds.all(number, 1);
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
async function unrecordedLines({ summaries }: LineStore, project: number, filter: BuildFilter, time: Period): Promise<BuildLine[]> {
  const ended = await summaries.unrecorded(project, time, SUMMARIES_SEARCHED);
  const found = ended.filter(({ ciRun }) => matches(ciRun, filter));
  // One that goes on again is listed with those that run.
  return found.flatMap(({ ciRun, summary }) => (summary.state === 'running' ? [] : lineOf(null, ciRun, false, summary)));
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
  for (const ciRun of await ciRuns.list(project, now + 1, UNRECORDED_RUNS_SEARCHED)) {
    if (lines.length === RUNNING_LINES || ciRun.created_at <= now - UNRECORDED_RUN_MILLISECONDS) break;
    const key = buildDigest(project, ciRun);
    if (!matches(ciRun, filter) || seen.has(key) || ciRun.created_at < created.from || ciRun.created_at >= created.before) continue;
    seen.add(key);
    const build = await builds.find(project, ciRun);
    if (build && build.recorded > ciRun.runs_before) continue;
    const summary = await (build ? summaries.get(build.number) : summaries.ofUnrecorded(ciRun));
    const hasEnded = summary !== null && summary.started_at >= ciRun.created_at && summary.state !== 'running';
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
    state: is_running ? 'running' : endedState(summary),
    summary: summary?.line ?? null,
  };
}

/** `unknown`: the summary of the build was made while nodes were at work, and is not written again yet. */
function endedState(summary: Summary | null): BuildLine['state'] {
  return !summary || summary.state === 'running' ? 'unknown' : summary.state;
}

/** Without a summary that is up to date, a build counts as running until the summary would be. */
function isRunning(build: Build, summary: Summary | null, now: Millis): boolean {
  if (summary && summary.recorded === build.recorded) return summary.state === 'running';
  return now - build.updated_at < SUMMARY_LATEST_MILLISECONDS;
}
