import { digest } from '../../engine/digest.js';
import { countOn, dayOf, emptyDay, endOfDay } from '../../engine/insight/trends/days.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Summaries, Summary } from '../../engine/ports/summaries.js';
import type { Parts } from './parts.js';
import { withoutVersion } from './records.js';
import type { DayKey, Tables } from './tables.js';
import { commit } from './writes/commit.js';

/** The key of all branches together. */
const ALL = '';

export function lmdbSummaries(parts: Parts) {
  const { summaries, days } = parts;
  return {
    get(build: number): Summary | null {
      const record = summaries.get(build);
      return record ? withoutVersion(record) : null;
    },
    put: (build, summary) => commit(parts, () => putSummary(parts, build, summary)),
    days(project: number, branch: string | null, from: number, to: number) {
      const owner = branch === null ? ALL : digest(branch);
      const range = days.getRange({ start: [project, owner, from], end: [project, owner, to + 1] } as object);
      return [...range].map(({ value }) => withoutVersion(value));
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
  void tables.summaries.put(build.number, { v: 1, ...summary });
}

function count({ days, expiry }: Tables, project: number, branch: string, summary: Summary, sign: 1 | -1): void {
  const day = dayOf(summary);
  const key: DayKey = [project, branch, day];
  const record = days.get(key);
  // The day may have expired before the build.
  if (!record && sign === -1) return;
  const counted = countOn(record ?? emptyDay(day), summary, sign);
  if (counted.builds > 0) void days.put(key, { ...counted, v: 1 });
  else void days.remove(key);
  if (record && counted.builds > 0) return;
  const entry: [number, string, ...DayKey] = [endOfDay(day), 'day', ...key];
  void (counted.builds > 0 ? expiry.put(entry, true) : expiry.remove(entry));
}
