import { countOn, dayOf, emptyDay, endOfDay } from '../../engine/insight/trends/days.js';
import { digest } from '../../engine/keys.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Summaries, Summary } from '../../engine/ports/summaries.js';
import type { Parts } from './parts.js';
import type { DayKey } from './records.js';
import type { Tables } from './tables.js';
import { commit } from './writes/commit.js';

/** The key of all branches together. */
const ALL = '';

export function lmdbSummaries(parts: Parts) {
  const { summaries, days } = parts;
  return {
    get: (build: number) => summaries.get(build) ?? null,
    put: (build, summary) => commit(parts, () => putSummary(parts, build, summary)),
    days(project: number, branch: string | null, from: number, to: number) {
      const owner = branch === null ? ALL : digest(branch);
      const range = days.getRange({ start: [project, owner, from], end: [project, owner, to + 1] } as object);
      return Array.from(range, ({ value }) => value);
    },
  } satisfies Summaries;
}

/** Within a write transaction. */
function putSummary(tables: Tables, build: Build, summary: Summary): void {
  if (tables.builds.get(build.number)?.id !== build.id) return;
  const before = tables.summaries.get(build.number);
  for (const branch of [ALL, digest(build.branch)]) {
    if (before) count(tables, build.project, branch, before, -1);
    count(tables, build.project, branch, summary, 1);
  }
  void tables.summaries.put(build.number, summary);
}

function count({ days, expiry }: Tables, project: number, branch: string, summary: Summary, sign: 1 | -1): void {
  const day = dayOf(summary);
  const key: DayKey = [project, branch, day];
  const record = days.get(key);
  // The day may have expired before the build.
  if (!record && sign === -1) return;
  const before = record ?? emptyDay(day);
  const counted = countOn(before, summary, sign);
  if (counted === before) return;
  if (counted.sums.builds > 0) void days.put(key, counted);
  else void days.remove(key);
  if (record && counted.sums.builds > 0) return;
  const entry: [number, string, ...DayKey] = [endOfDay(day), 'day', ...key];
  void (counted.sums.builds > 0 ? expiry.put(entry, true) : expiry.remove(entry));
}
