import { wholeMilliseconds } from '../../../base/rounding.js';
import { DAY_MILLISECONDS, dateOf } from '../../../base/time.js';
import type { ProjectOverview } from '../../../protocol/answers/trends.js';
import { emptyDay } from '../../engine/days/days.js';
import type { Project } from '../../engine/ports/access.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { isPublicSide } from '../../engine/public-side/side.js';
import { ALWAYS, buildLines } from './build-lines.js';
import { completeBuilds, jobsIn, medianOf, plannedBuilds } from './build-trend.js';
import { idleShare, type Trend } from './summary.js';

/** Builds of a project that the dashboard's list of projects has. */
export const RECENT_BUILDS = 30;

const MONTH_DAYS = 30;

/** The state of a project. It is read from summaries, so its cost does not grow with the number of builds. */
export async function overviewOf(
  store: Pick<Store, 'builds' | 'ciRuns' | 'summaries'>,
  { id, name, default_branch, settings }: Pick<Project, 'id' | 'name' | 'default_branch' | 'settings'>,
  now: Millis,
): Promise<Trend<ProjectOverview>> {
  const today = Math.floor(now / DAY_MILLISECONDS);
  const days = await store.summaries.days(id, null, today - MONTH_DAYS + 1, today);
  const request = { filter: {}, failed: false, created: ALWAYS, cursor: null, limit: RECENT_BUILDS };
  const { answer, outdated } = await buildLines(store, id, request, now);
  const { sums } = days.find(({ day }) => day === today) ?? emptyDay(today);
  const measured = days.findLast(day => completeBuilds(day) > 0) ?? null;
  const recent = answer.builds.flatMap(({ build_id, ci_run_id, summary, state }) => {
    if (!summary || state === 'running') return [];
    const { wall, floor, failed, missing } = summary;
    return [{ id: build_id ?? ci_run_id!, state, wall, floor, failed, missing }];
  });
  const { since, price, jobs, ci_runs } = jobsIn(days, settings);
  const overview = {
    ...{ id, name, is_public: isPublicSide(id), default_branch },
    builds_today: sums.builds,
    incomplete_today: sums.incomplete,
    cancelled_today: sums.cancelled,
    unplanned_today: sums.unplanned,
    with_failures_today: sums.with_failures,
    passed_today: sums.passed,
    running: answer.builds.filter(({ is_running }) => is_running).length,
    median_wall: measured && medianOf(measured.walls),
    idle_share: measured && idleShare(measured.sums),
    measured_day: measured && dateOf(measured.day),
    saved_30_days: wholeMilliseconds(days.reduce((sum, day) => sum + day.sums.saved, 0)),
    builds_30_days: days.reduce((sum, day) => sum + plannedBuilds(day), 0),
    cost_30_days: price && { since, price, jobs, ci_runs },
    recent: recent.slice(0, RECENT_BUILDS).reverse(),
  };
  return { answer: overview, outdated };
}
