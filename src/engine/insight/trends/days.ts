import { DAY_MILLISECONDS } from '../../../time.js';
import type { DaySummary, Summaries, Summary } from '../../ports/summaries.js';
import { PART_NAMES } from '../minutes/minutes.js';
import { savedTime } from './summary.js';

/** The longest duration that a day counts, 31 years in milliseconds: sums stay exact for all recorded times. */
const MOST_MILLISECONDS = 1e12;
const LAST_DAY = 1e8;
/** The ratio of two neighbouring wall times in `DaySummary.walls`. */
const BUCKET_RATIO = 1.05;

/** The day on which a build counts: when its newest CI run began, in whole days since 1970, UTC. */
export function dayOf({ started_at }: Pick<Summary, 'started_at'>): number {
  const day = Math.floor(started_at / DAY_MILLISECONDS);
  return Number.isNaN(day) ? 0 : Math.min(LAST_DAY, Math.max(0, day));
}

/** The end of a day, in milliseconds since 1970. */
export function endOfDay(day: number): number {
  return (day + 1) * DAY_MILLISECONDS;
}

export function emptyDay(day: number): DaySummary {
  return {
    day,
    builds: 0,
    incomplete: 0,
    withFailures: 0,
    wall: 0,
    floor: 0,
    parts: PART_NAMES.map(() => 0),
    nodeTime: 0,
    idleTime: 0,
    baselines: { round_robin: 0, by_name: 0, one_at_a_time: 0 },
    saved: 0,
    walls: {},
  };
}

/** Adds a build to its day, or (-1) takes it off again exactly. */
export function countOn(day: DaySummary, summary: Summary, sign: 1 | -1): DaySummary {
  const sum = (before: number, milliseconds: number) => before + sign * wholeMilliseconds(milliseconds);
  const { baselines, walls } = day;
  const bucket = bucketOf(summary.wall);
  const { [bucket]: inBucket = 0, ...otherWalls } = walls;
  const counted = inBucket + sign;
  return {
    day: day.day,
    builds: day.builds + sign,
    incomplete: day.incomplete + (summary.missing > 0 ? sign : 0),
    withFailures: day.withFailures + ((summary.failed ?? 0) > 0 ? sign : 0),
    wall: sum(day.wall, summary.wall),
    floor: sum(day.floor, summary.floor),
    parts: day.parts.map((before, i) => sum(before, summary.parts[i] ?? 0)),
    nodeTime: sum(day.nodeTime, summary.nodeTime),
    idleTime: sum(day.idleTime, summary.idleTime),
    baselines: {
      round_robin: sum(baselines.round_robin, summary.baselines.round_robin),
      by_name: sum(baselines.by_name, summary.baselines.by_name),
      one_at_a_time: sum(baselines.one_at_a_time, summary.baselines.one_at_a_time),
    },
    saved: sum(day.saved, savedTime(summary)),
    walls: counted > 0 ? { ...otherWalls, [bucket]: counted } : otherWalls,
  };
}

/** The builds of two days together, under the first. */
export function addDays(day: DaySummary, other: DaySummary): DaySummary {
  const walls = { ...day.walls };
  for (const [bucket, builds] of Object.entries(other.walls)) walls[Number(bucket)] = (walls[Number(bucket)] ?? 0) + builds;
  return {
    day: day.day,
    builds: day.builds + other.builds,
    incomplete: day.incomplete + other.incomplete,
    withFailures: day.withFailures + other.withFailures,
    wall: day.wall + other.wall,
    floor: day.floor + other.floor,
    parts: day.parts.map((part, i) => part + other.parts[i]!),
    nodeTime: day.nodeTime + other.nodeTime,
    idleTime: day.idleTime + other.idleTime,
    baselines: {
      round_robin: day.baselines.round_robin + other.baselines.round_robin,
      by_name: day.baselines.by_name + other.baselines.by_name,
      one_at_a_time: day.baselines.one_at_a_time + other.baselines.one_at_a_time,
    },
    saved: day.saved + other.saved,
    walls,
  };
}

/** The median wall time of a day in milliseconds, at most 2.5 % off; 0 without builds. */
export function medianWall({ walls }: Pick<DaySummary, 'walls'>): number {
  const buckets = Object.entries(walls)
    .map(([bucket, builds]) => ({ bucket: Number(bucket), builds }))
    .sort((a, b) => a.bucket - b.bucket);
  const middle = buckets.reduce((sum, { builds }) => sum + builds, 0) / 2;
  let before = 0;
  for (const { bucket, builds } of buckets) if ((before += builds) >= middle) return 1000 * BUCKET_RATIO ** bucket;
  return 0;
}

function bucketOf(wall: number): number {
  return Math.round(Math.log(Math.max(1, wholeMilliseconds(wall)) / 1000) / Math.log(BUCKET_RATIO));
}

function wholeMilliseconds(milliseconds: number): number {
  return Number.isNaN(milliseconds) ? 0 : Math.round(Math.min(MOST_MILLISECONDS, Math.max(-MOST_MILLISECONDS, milliseconds)));
}

/** A span of days, in whole days since 1970, UTC; both ends are included. */
export interface Days {
  from: number;
  to: number;
}

/** The builds of a branch (null: all branches) by day, or by week under the day of its Monday. */
export async function buildTrend(
  summaries: Pick<Summaries, 'days'>,
  project: number,
  branch: string | null,
  { from, to }: Days,
  by: 'day' | 'week',
): Promise<DaySummary[]> {
  if (by === 'day') return summaries.days(project, branch, from, to);
  const weeks = new Map<number, DaySummary>();
  for (const day of await summaries.days(project, branch, mondayOf(from), to)) {
    const monday = mondayOf(day.day);
    const before = weeks.get(monday);
    weeks.set(monday, before ? addDays(before, day) : { ...day, day: monday });
  }
  return [...weeks.values()];
}

/** The first day of a week. The day 0 was a Thursday. */
function mondayOf(day: number): number {
  return Math.max(0, day - ((day + 3) % 7));
}
