import { setImmediate as nextTurn } from 'node:timers/promises';
import { countOn, dayOf, emptyDay } from '../../engine/insight/trends/days.js';
import { buildDigest } from '../../engine/keys.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Summaries, Summary } from '../../engine/ports/summaries.js';
import type { Tables } from './tables.js';

export function memorySummaries(tables: Tables): Summaries {
  const { builds, summaries, days } = tables;
  return {
    get: build => summaries.get(build) ?? null,
    async put(build, summary) {
      if (builds.get(buildDigest(build.project, build))?.id === build.id) put(tables, build, summary);
      await nextTurn();
    },
    days(project, branch, from, to) {
      const own = dayKey(project, branch, '');
      return [...days]
        .filter(([key, { day }]) => key.startsWith(own) && day >= from && day <= to)
        .map(([, day]) => day)
        .sort((a, b) => a.day - b.day);
    },
  };
}

function put(tables: Tables, { project, branch, number }: Build, summary: Summary): void {
  const before = tables.summaries.get(number);
  for (const owner of [null, branch]) {
    if (before) count(tables, project, owner, before, -1);
    count(tables, project, owner, summary, 1);
  }
  tables.summaries.set(number, structuredClone(summary));
}

function count({ days }: Tables, project: number, branch: string | null, summary: Summary, sign: 1 | -1): void {
  const day = dayOf(summary);
  const key = dayKey(project, branch, day);
  const known = days.get(key);
  // The day may have expired before the build.
  if (!known && sign === -1) return;
  const counted = countOn(known ?? emptyDay(day), summary, sign);
  if (counted.builds > 0) days.set(key, counted);
  else days.delete(key);
}

/** @param branch null: all branches together */
function dayKey(project: number, branch: string | null, day: number | ''): string {
  return `${JSON.stringify([project, branch])} ${day}`;
}
