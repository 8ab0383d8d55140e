import { limits } from '../../../limits.js';
import { DAY_MILLISECONDS } from '../../../time.js';
import type { Build } from '../../ports/builds.js';
import type { Millis, Store } from '../../ports/store.js';
import type { DaySummary, Summary } from '../../ports/summaries.js';
import { buildLines } from './build-lines.js';
import { addDays, dayOf, emptyDay } from './days.js';

/** The state of a project. It is read from summaries, so its cost does not grow with the number of builds. */
export interface Overview {
  today: DaySummary;
  /** Builds of today with files that were planned and not recorded, without those that are running. */
  incompleteToday: number;
  running: number;
  /** The last day with builds; null: there is none in the last 30 days. */
  lastDay: DaySummary | null;
  /** The last 30 days, added up. */
  month: DaySummary;
  /** The last builds that have ended and have a summary, oldest first. */
  recent: { build: Build; summary: Summary }[];
  /** Builds whose summaries are to be written again. */
  outdated: Build[];
}

const MONTH_DAYS = 30;

export async function overviewOf(store: Pick<Store, 'builds' | 'ciRuns' | 'summaries'>, project: number, now: Millis): Promise<Overview> {
  const today = Math.floor(now / DAY_MILLISECONDS);
  const days = await store.summaries.days(project, null, today - MONTH_DAYS + 1, today);
  const request = { filter: {}, failed: false, before: null, limit: limits.recentBuilds };
  const { lines, outdated } = await buildLines(store, project, request, now);
  const unfinished = lines.filter(({ isRunning, summary }) => isRunning && summary && summary.missing > 0 && dayOf(summary) === today);
  const counted = days.find(({ day }) => day === today) ?? emptyDay(today);
  const recent = lines.flatMap(({ build, summary, isRunning }) => (build && summary && !isRunning ? [{ build, summary }] : []));
  return {
    today: counted,
    incompleteToday: Math.max(0, counted.incomplete - unfinished.length),
    running: lines.filter(({ isRunning }) => isRunning).length,
    lastDay: days.at(-1) ?? null,
    month: days.reduce(addDays, emptyDay(today)),
    recent: recent.reverse(),
    outdated,
  };
}
