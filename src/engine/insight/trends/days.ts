import { DAY_MILLISECONDS, timestamp } from '../../../time.js';
import type { DaySum, DaySummary, Summaries, Summary } from '../../ports/summaries.js';
import { PART_NAMES } from '../minutes/minutes-answer.js';
import { wholeMilliseconds } from '../rounding.js';
import { idleShare } from './summary.js';
import type { BuildTrend, DayTrend } from './trends-answer.js';

/** The longest duration that a day counts, 31 years in seconds: sums stay exact for all recorded times. */
const MOST_SECONDS = 1e9;
const LAST_DAY = 1e8;
const METHODS = ['round_robin', 'by_name', 'one_at_a_time'] as const;
const COUNTS = ['builds', 'incomplete', 'with_failures'] as const;
const DURATIONS = ['wall', 'floor', 'saved', 'node_seconds', 'idle_seconds'] as const;
const SUM_NAMES: readonly DaySum[] = [...COUNTS, ...DURATIONS, ...METHODS, ...PART_NAMES];
/** The ratio of two neighbouring wall times in `DaySummary.walls`. */
const BUCKET_RATIO = 1.05;

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
  return { day, sums: Object.fromEntries(SUM_NAMES.map(name => [name, 0])) as DaySummary['sums'], walls: {} };
}

/** Adds a build to its day, or (-1) takes it off again exactly. */
export function countOn(day: DaySummary, { line, parts, node_seconds, idle_seconds, baselines }: Summary, sign: 1 | -1): DaySummary {
  const { wall, floor, saved, missing, failed } = line;
  const counted = { builds: 1, incomplete: Number(missing > 0), with_failures: Number((failed ?? 0) > 0) };
  const measured = { ...counted, wall, floor, saved, node_seconds, idle_seconds, ...baselines, ...parts };
  const sums = Object.fromEntries(SUM_NAMES.map(name => [name, sign * credible(measured[name])])) as DaySummary['sums'];
  const bucket = Math.round(Math.log(Math.max(0.001, credible(wall))) / Math.log(BUCKET_RATIO));
  return addDays(day, { day: day.day, sums, walls: { [bucket]: sign } });
}

function credible(seconds: number): number {
  return Number.isNaN(seconds) ? 0 : wholeMilliseconds(Math.min(MOST_SECONDS, Math.max(-MOST_SECONDS, seconds)));
}

/** The builds of two days together, under the first. */
export function addDays(day: DaySummary, other: DaySummary): DaySummary {
  const walls = new Map(Object.entries(day.walls));
  for (const [bucket, builds] of Object.entries(other.walls)) walls.set(bucket, (walls.get(bucket) ?? 0) + builds);
  return {
    day: day.day,
    sums: Object.fromEntries(SUM_NAMES.map(name => [name, wholeMilliseconds(day.sums[name] + other.sums[name])])) as DaySummary['sums'],
    walls: Object.fromEntries([...walls].filter(([, builds]) => builds > 0)),
  };
}

/** The median wall time of a day in seconds, at most 2.5 % off; 0 without builds. */
export function medianWall({ walls }: Pick<DaySummary, 'walls'>): number {
  const buckets = Object.entries(walls)
    .map(([bucket, builds]) => ({ bucket: Number(bucket), builds }))
    .sort((a, b) => a.bucket - b.bucket);
  const middle = buckets.reduce((sum, { builds }) => sum + builds, 0) / 2;
  let before = 0;
  for (const { bucket, builds } of buckets) if ((before += builds) >= middle) return wholeMilliseconds(BUCKET_RATIO ** bucket);
  return 0;
}

/** The means and sums of a day. */
function dayTrend({ day, sums, walls }: DaySummary): DayTrend {
  const { builds, incomplete, with_failures, wall, floor, node_seconds, saved } = sums;
  const mean = (seconds: number) => wholeMilliseconds(seconds / builds);
  const savedOf = (method: (typeof METHODS)[number]) => wholeMilliseconds(sums[method] - wall);
  return {
    day: dateOf(day),
    ...{ builds, incomplete, with_failures },
    wall: mean(wall),
    floor: mean(floor),
    median_wall: medianWall({ walls }),
    idle_share: idleShare(sums),
    parts: PART_NAMES.map(name => ({ name, seconds: mean(sums[name]) })),
    saved: { round_robin: savedOf('round_robin'), by_name: savedOf('by_name'), one_at_a_time: savedOf('one_at_a_time'), best: saved },
    node_seconds,
  };
}

/**
 * The builds of a branch (null: all branches) by day, or by week under the day of its Monday. `from` and `to` are whole days since 1970, UTC,
 * and both are included.
 */
export async function buildTrend(
  summaries: Pick<Summaries, 'days'>,
  project: number,
  branch: string | null,
  { from, to }: { from: number; to: number },
  by: 'day' | 'week',
): Promise<BuildTrend> {
  if (by === 'day') return { branch, days: (await summaries.days(project, branch, from, to)).map(dayTrend) };
  const weeks = new Map<number, DaySummary>();
  for (const day of await summaries.days(project, branch, mondayOf(from), to)) {
    const monday = mondayOf(day.day);
    const before = weeks.get(monday);
    weeks.set(monday, before ? addDays(before, day) : { ...day, day: monday });
  }
  return { branch, days: [...weeks.values()].map(dayTrend) };
}

/** The first day of a week. The day 0 was a Thursday. */
function mondayOf(day: number): number {
  return Math.max(0, day - ((day + 3) % 7));
}
