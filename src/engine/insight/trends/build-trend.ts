import type { DaySummary, Summaries } from '../../ports/summaries.js';
import { addDays } from './days.js';

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
