import { countedOn, emptyDay } from '../../engine/days/days.js';
import { digest, type ProjectBuild } from '../../engine/keys.js';
import type { DaySummary } from '../../engine/ports/summaries.js';
import { refusals } from '../../engine/refusal.js';
import type { Database } from './connection/database.js';
import { BOUNDS } from './connection/options.js';
import { pauseAfterLoss } from './connection/pause.js';

/** The key of all branches together. */
const ALL = '';

/** A day that changes, of a branch or of all. */
interface Day {
  branch: string;
  day: number;
  summary: DaySummary;
}

/** How a day changes. @param isKept false: nothing counts on it, or it has expired */
export type ChangeDay = (day: DaySummary, isKept: boolean) => DaySummary;

/** The key of the days of a branch, or of all branches together (null). */
export function branchKey(branch: string | null): string {
  return branch === null ? ALL : digest(branch);
}

/**
 * Changes days of a project together with what they count: each attempt reads that with `days_turn`, and writes both if it is still the
 * same. Resolves when an attempt resolves with true.
 */
export async function inTurn(attempt: () => Promise<boolean>): Promise<void> {
  for (const until = performance.now() + BOUNDS.wait; performance.now() < until; await pauseAfterLoss()) if (await attempt()) return;
  throw refusals.databaseAway(new Error('others changed the days of the project each time'));
}

/** Some days of a branch and of all branches, changed. Those on which nothing counts before and after are left out. */
export async function changedDays(
  database: Database,
  { project, branch }: Pick<ProjectBuild, 'project' | 'branch'>,
  numbers: readonly number[],
  change: ChangeDay,
): Promise<Day[]> {
  const branches = [null, branch].map(branchKey);
  const rows = await database.read<{ branch: string; day: number; summary: string }>(
    `select d.* from unnest($2::text[]) as b (branch) cross join unnest($3::int4[]) as n (day)
    cross join lateral (select branch, day, summary from days where project = $1 and branch = b.branch and day = n.day limit 1) d`,
    [project, branches, numbers],
  );
  const known = new Map(rows.map(row => [`${row.branch} ${row.day}`, JSON.parse(row.summary) as DaySummary]));
  return branches.flatMap(name =>
    numbers.flatMap((day): Day[] => {
      const found = known.get(`${name} ${day}`);
      const summary = change(found ?? emptyDay(day), found !== undefined);
      return !found && countedOn(summary) === 0 ? [] : [{ branch: name, day, summary }];
    }),
  );
}

/** The part of a statement that writes days. A part before selects the project as `p`. @param first the number of the first of its values */
export function putDays(first: number): string {
  const [branch, day, counted, summary] = [0, 1, 2, 3].map(i => `$${first + i}`);
  return `insert into days (project, branch, day, counted, summary)
    select p.id, v.branch, v.day, v.counted, v.summary
    from p, unnest(${branch}::text[], ${day}::int4[], ${counted}::int4[], ${summary}::text[]) as v (branch, day, counted, summary)
    order by v.branch, v.day
    on conflict (project, branch, day) do update set counted = excluded.counted, summary = excluded.summary`;
}

/** The values of `putDays`. */
export function dayValues(days: readonly Day[]): unknown[] {
  return [
    days.map(({ branch }) => branch),
    days.map(({ day }) => day),
    days.map(({ summary }) => countedOn(summary)),
    days.map(({ summary }) => JSON.stringify(summary)),
  ];
}
