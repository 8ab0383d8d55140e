import { wholeMilliseconds } from '../../../base/rounding.js';
import { dateOf } from '../../../base/time.js';
import { PART_NAMES } from '../../../protocol/answers/minutes.js';
import type { BuildTrend, DayTrend } from '../../../protocol/answers/trends.js';
import { type PriceSettings, priceOf } from '../../../protocol/price.js';
import { type METHODS, SUM_NAMES } from '../../engine/days/days.js';
import type { DaySum, DaySummary, Summaries } from '../../engine/ports/summaries.js';
import { middleOf } from '../../planning/estimating/median.js';
import { idleShare } from './summary.js';

/** The builds of several days together, under one day. */
function addDays(first: number, days: readonly DaySummary[]): DaySummary {
  const sumOf = (name: DaySum) => wholeMilliseconds(days.reduce((sum, day) => sum + day.sums[name], 0));
  return {
    day: first,
    sums: Object.fromEntries(SUM_NAMES.map(name => [name, sumOf(name)])) as DaySummary['sums'],
    walls: days.flatMap(({ walls }) => walls).sort((a, b) => a - b),
    tests: days.flatMap(({ tests }) => tests).sort((a, b) => a - b),
    jobs: days.flatMap(({ jobs }) => jobs),
  };
}

export function hasBuilds({ sums }: Pick<DaySummary, 'sums'>): boolean {
  return sums.builds > 0;
}

/** Number of builds of a day that ended complete, as far as it is known. Only their times count. */
export function completeBuilds({ sums }: Pick<DaySummary, 'sums'>): number {
  return sums.builds - sums.incomplete - sums.cancelled - sums.partial;
}

/** Number of complete builds that were planned, of which `saved` is the sum. */
export function plannedBuilds({ sums }: Pick<DaySummary, 'sums'>): number {
  return sums.builds - sums.incomplete - sums.cancelled - sums.unplanned;
}

/** The median in seconds of the wall times or times of tests of a day; null: no build ended complete. */
export function medianOf(times: readonly number[]): number | null {
  return times.length === 0 ? null : wholeMilliseconds(middleOf(times) / 1000);
}

type Jobs = Pick<DayTrend, 'since' | 'ci_runs' | 'jobs' | 'job_seconds' | 'price'>;

/** The jobs of some days, ascending, and what they cost. */
export function jobsIn(days: readonly DaySummary[], settings: PriceSettings): Jobs {
  const times = days.flatMap(({ jobs }) => jobs);
  const setup = settings.setup ?? 0;
  return {
    since: dateOf(days.find(hasBuilds)?.day ?? 0),
    ci_runs: days.reduce((sum, { sums }) => sum + sums.ci_runs, 0),
    jobs: times.reduce((sum, [, jobs]) => sum + jobs, 0),
    job_seconds: times.reduce((sum, [seconds, jobs]) => sum + (seconds + setup) * jobs, 0),
    price: priceOf(settings, times),
  };
}

/** The means and sums of a group of days, ascending, under its first one. */
function dayTrend(first: number, days: readonly DaySummary[], settings: PriceSettings): DayTrend {
  const day = addDays(first, days);
  const { sums } = day;
  const { builds, incomplete, cancelled, unplanned, with_failures, passed, wall } = sums;
  const complete = completeBuilds(day);
  const mean = (seconds: number) => (complete === 0 ? null : wholeMilliseconds(seconds / complete));
  const savedOf = (method: (typeof METHODS)[number]) => wholeMilliseconds(sums[method] - wall);
  return {
    day: dateOf(day.day),
    ...{ builds, incomplete, cancelled, unplanned, with_failures, passed },
    ...jobsIn(days, settings),
    wall: mean(wall),
    floor: mean(sums.floor),
    median_wall: medianOf(day.walls),
    median_test_seconds: medianOf(day.tests),
    idle_share: complete === 0 ? null : idleShare(sums),
    parts: complete === 0 ? [] : PART_NAMES.map(name => ({ name, seconds: wholeMilliseconds(sums[name] / complete) })),
    saved: { round_robin: savedOf('round_robin'), by_name: savedOf('by_name'), one_at_a_time: savedOf('one_at_a_time'), best: sums.saved },
    node_seconds: sums.node_seconds,
  };
}

/**
 * The builds of a branch (null: all branches) by day, by week under the day of its Monday, or all together under the first day. `from` and
 * `to` are whole days since 1970, UTC, and both are included.
 */
export async function buildTrend(
  summaries: Pick<Summaries, 'days'>,
  project: number,
  branch: string | null,
  { from, to }: { from: number; to: number },
  by: 'day' | 'week' | 'range',
  settings: PriceSettings,
): Promise<BuildTrend> {
  const first = by === 'week' ? mondayOf(from) : from;
  const all = await summaries.days(project, branch, first, to);
  const { proved_runs, proved_seconds } = addDays(first, all).sums;
  const days = all.filter(hasBuilds);
  const groups = new Map<number, DaySummary[]>();
  for (const day of days) {
    const group = by === 'range' ? first : by === 'week' ? mondayOf(day.day) : day.day;
    groups.set(group, [...(groups.get(group) ?? []), day]);
  }
  const trends = Array.from(groups, ([day, days]) => dayTrend(day, days, settings));
  return { branch, from: dateOf(first), to: dateOf(to), proved_runs, proved_seconds, days: trends };
}

/** The first day of a week. The day 0 was a Thursday. */
function mondayOf(day: number): number {
  return Math.max(0, day - ((day + 3) % 7));
}
