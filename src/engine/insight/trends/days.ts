import { limits } from '../../../limits.js';
import { middleOf } from '../../../planning/estimating/median.js';
import { DAY_MILLISECONDS, timestamp } from '../../../time.js';
import type { DaySum, DaySummary, Summaries, Summary } from '../../ports/summaries.js';
import { hasEndedComplete } from '../build-state.js';
import { PART_NAMES } from '../minutes/minutes-answer.js';
import { wholeMilliseconds } from '../rounding.js';
import { idleShare } from './summary.js';
import type { BuildTrend, DayTrend } from './trends-answer.js';

/** The longest duration that a day counts, 31 years in seconds: sums stay exact for all recorded times. */
const MOST_SECONDS = 1e9;
const LAST_DAY = 1e8;
const METHODS = ['round_robin', 'by_name', 'one_at_a_time'] as const;
const COUNTS = ['builds', 'incomplete', 'cancelled', 'unplanned', 'partial', 'with_failures', 'passed', 'jobs'] as const;
const DURATIONS = ['job_seconds', 'wall', 'floor', 'saved', 'node_seconds', 'idle_seconds', 'test_seconds'] as const;
const SUM_NAMES: readonly DaySum[] = [...COUNTS, ...DURATIONS, ...METHODS, ...PART_NAMES];

/** The day on which a build counts: when its newest CI run began, in whole days since 1970, UTC. */
export function dayOf({ started_at }: Pick<Summary, 'started_at'>): number {
  const day = Math.floor(started_at / DAY_MILLISECONDS);
  return Number.isNaN(day) ? 0 : Math.min(LAST_DAY, Math.max(0, day));
}

/** A day as 2026-11-22. */
export function dateOf(day: number): string {
  return timestamp(day * DAY_MILLISECONDS).slice(0, 10);
}

/** The end of a day, in milliseconds since 1970. */
export function endOfDay(day: number): number {
  return (day + 1) * DAY_MILLISECONDS;
}

export function emptyDay(day: number): DaySummary {
  return { day, sums: Object.fromEntries(SUM_NAMES.map(name => [name, 0])) as DaySummary['sums'], walls: [] };
}

/** Adds a build to its day, or (-1) takes it off again. A running build does not count, nor do the times of an incomplete one. */
export function countOn(day: DaySummary, summary: Summary, sign: 1 | -1): DaySummary {
  const { state, line, parts, node_seconds, idle_seconds, jobs, job_seconds, test_seconds, baselines } = summary;
  if (state === 'running') return day;
  const { kind, wall, floor, saved, failed } = line;
  const isComplete = hasEndedComplete(state);
  const isPlanned = kind !== 'recordings';
  const counted = {
    builds: 1,
    incomplete: Number(state === 'missing'),
    cancelled: Number(state === 'cancelled'),
    unplanned: Number(!isPlanned),
    partial: Number(state === 'partial'),
    with_failures: Number((failed ?? 0) > 0),
    passed: Number(state === 'complete'),
    // The jobs of an incomplete build are paid, too.
    ...{ jobs, job_seconds },
  };
  // Nothing is saved in a build that nobody planned: other methods count with its own time.
  const compared = isPlanned ? { saved: saved ?? 0, ...baselines } : { round_robin: wall, by_name: wall, one_at_a_time: wall };
  const measured = isComplete ? { wall, floor, node_seconds, idle_seconds, test_seconds, ...parts, ...compared } : {};
  const added: Partial<DaySummary['sums']> = { ...counted, ...measured };
  const sums = SUM_NAMES.map(name => [name, wholeMilliseconds(sumOn(day, name) + sign * credible(added[name] ?? 0))]);
  return {
    day: day.day,
    sums: Object.fromEntries(sums) as DaySummary['sums'],
    walls: isComplete ? changed(day.walls, Math.round(1000 * credible(wall)), sign) : day.walls,
  };
}

/** A day that was written before has no builds that were cancelled. */
function sumOn({ sums }: Pick<DaySummary, 'sums'>, name: DaySum): number {
  return sums[name] ?? 0;
}

function credible(seconds: number): number {
  return Number.isNaN(seconds) ? 0 : wholeMilliseconds(Math.min(MOST_SECONDS, Math.max(-MOST_SECONDS, seconds)));
}

/** Returns sorted values with one more, or (-1) one less. */
function changed(values: readonly number[], value: number, sign: 1 | -1): number[] {
  if (sign === 1) return values.length < limits.wallsPerDay ? [...values, value].sort((a, b) => a - b) : [...values];
  const place = values.indexOf(value);
  return place === -1 ? [...values] : values.toSpliced(place, 1);
}

/** The builds of several days together, under one day. */
function addDays(first: number, days: readonly DaySummary[]): DaySummary {
  const sumOf = (name: DaySum) => wholeMilliseconds(days.reduce((sum, day) => sum + sumOn(day, name), 0));
  return {
    day: first,
    sums: Object.fromEntries(SUM_NAMES.map(name => [name, sumOf(name)])) as DaySummary['sums'],
    walls: days.flatMap(({ walls }) => walls).sort((a, b) => a - b),
  };
}

/** How many builds of a day ended complete, as far as it is known: those whose times count. */
export function completeBuilds({ sums }: Pick<DaySummary, 'sums'>): number {
  return sums.builds - sums.incomplete - (sums.cancelled ?? 0) - sums.partial;
}

/** Those of them that were planned, of which `saved` is the sum. */
export function plannedBuilds({ sums }: Pick<DaySummary, 'sums'>): number {
  return sums.builds - sums.incomplete - (sums.cancelled ?? 0) - sums.unplanned;
}

/** The median wall time of a day in seconds; null: no build ended complete. */
export function medianWall({ walls }: Pick<DaySummary, 'walls'>): number | null {
  return walls.length === 0 ? null : wholeMilliseconds(middleOf(walls) / 1000);
}

/** The means and sums of a day. */
function dayTrend(day: DaySummary): DayTrend {
  const { sums } = day;
  const { builds, incomplete, unplanned, with_failures, passed, jobs, job_seconds, wall, floor, node_seconds, test_seconds, saved } = sums;
  const complete = completeBuilds(day);
  const mean = (seconds: number) => (complete === 0 ? null : wholeMilliseconds(seconds / complete));
  const savedOf = (method: (typeof METHODS)[number]) => wholeMilliseconds(sums[method] - wall);
  return {
    day: dateOf(day.day),
    ...{ builds, incomplete, cancelled: sumOn(day, 'cancelled'), unplanned, with_failures, passed, jobs, job_seconds },
    wall: mean(wall),
    floor: mean(floor),
    test_seconds: mean(test_seconds),
    median_wall: medianWall(day),
    idle_share: complete === 0 ? null : idleShare(sums),
    parts: complete === 0 ? [] : PART_NAMES.map(name => ({ name, seconds: wholeMilliseconds(sums[name] / complete) })),
    saved: { round_robin: savedOf('round_robin'), by_name: savedOf('by_name'), one_at_a_time: savedOf('one_at_a_time'), best: saved },
    node_seconds,
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
): Promise<BuildTrend> {
  const first = by === 'week' ? mondayOf(from) : from;
  const days = await summaries.days(project, branch, first, to);
  const groups = new Map<number, DaySummary[]>();
  for (const day of days) {
    const group = by === 'range' ? first : by === 'week' ? mondayOf(day.day) : day.day;
    groups.set(group, [...(groups.get(group) ?? []), day]);
  }
  const trends = Array.from(groups, ([day, days]) => dayTrend(addDays(day, days)));
  return { branch, from: dateOf(first), to: dateOf(to), days: trends };
}

/** The first day of a week. The day 0 was a Thursday. */
function mondayOf(day: number): number {
  return Math.max(0, day - ((day + 3) % 7));
}
