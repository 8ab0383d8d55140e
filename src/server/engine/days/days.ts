import { wholeMilliseconds } from '../../../base/rounding.js';
import { DAY_MILLISECONDS } from '../../../base/time.js';
import { PART_NAMES } from '../../../protocol/answers/minutes.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import type { SparedCiRun } from '../ports/ci-runs.js';
import type { Millis } from '../ports/store.js';
import type { DaySum, DaySummary, Summary } from '../ports/summaries.js';
import { withJobs } from './job-times.js';

/** Times of the builds of a day that are kept for a median. */
export const TIMES_PER_DAY = 10_000;

/** The longest duration that a day counts, 31 years in seconds: sums stay exact for all recorded times. */
const MOST_SECONDS = 1e9;
const LAST_DAY = 1e8;
export const METHODS = ['round_robin', 'by_name', 'one_at_a_time'] as const;
const COUNTS = ['builds', 'incomplete', 'cancelled', 'unplanned', 'partial', 'with_failures', 'passed', 'ci_runs', 'proved_runs'] as const;
const DURATIONS = ['wall', 'floor', 'saved', 'node_seconds', 'idle_seconds', 'proved_seconds'] as const;
export const SUM_NAMES: readonly DaySum[] = [...COUNTS, ...DURATIONS, ...METHODS, ...PART_NAMES];

/** The day on which a build counts: when its newest CI run began. */
export function dayOf({ started_at }: Pick<Summary, 'started_at'>): number {
  return dayAt(started_at);
}

/** The day of a time, in whole days since 1970, UTC. */
export function dayAt(time: Millis): number {
  const day = Math.floor(time / DAY_MILLISECONDS);
  return Number.isNaN(day) ? 0 : Math.min(LAST_DAY, Math.max(0, day));
}

/** The end of a day, in milliseconds since 1970. */
export function endOfDay(day: number): number {
  return (day + 1) * DAY_MILLISECONDS;
}

export function emptyDay(day: number): DaySummary {
  return { day, sums: Object.fromEntries(SUM_NAMES.map(name => [name, 0])) as DaySummary['sums'], walls: [], tests: [], jobs: [] };
}

/** Adds a build to its day, or (-1) takes it off again. A running build does not count, nor do the times of an incomplete one. */
export function countOn(day: DaySummary, summary: Summary, sign: 1 | -1): DaySummary {
  const { state, line, parts, node_seconds, idle_seconds, ci_runs, jobs, test_seconds, baselines } = summary;
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
    // The build whose failures are all muted passed.
    with_failures: Number((failed ?? 0) > 0 && state !== 'complete'),
    passed: Number(state === 'complete'),
    ci_runs,
  };
  // Nothing is saved in a build that nobody planned: other methods count with its own time.
  const compared = isPlanned ? { saved: saved ?? 0, ...baselines } : { round_robin: wall, by_name: wall, one_at_a_time: wall };
  const measured = isComplete ? { wall, floor, node_seconds, idle_seconds, ...parts, ...compared } : {};
  const added: Partial<DaySummary['sums']> = { ...counted, ...measured };
  const sums = SUM_NAMES.map(name => [name, wholeMilliseconds(day.sums[name] + sign * credible(added[name] ?? 0))]);
  const timesWith = (times: readonly number[], seconds: number) =>
    isComplete ? changed(times, Math.round(1000 * credible(seconds)), sign) : [...times];
  return {
    day: day.day,
    sums: Object.fromEntries(sums) as DaySummary['sums'],
    walls: timesWith(day.walls, wall),
    tests: timesWith(day.tests, test_seconds),
    // The jobs of an incomplete build are paid, too.
    jobs: withJobs(day.jobs, jobs, sign),
  };
}

/** Adds a CI run that a proof spared to the day on which it asked. */
export function countSpared(day: DaySummary, { seconds }: Pick<SparedCiRun, 'seconds'>): DaySummary {
  const { proved_runs, proved_seconds } = day.sums;
  const sums = { proved_runs: proved_runs + 1, proved_seconds: wholeMilliseconds(proved_seconds + credible(seconds)) };
  return { ...day, sums: { ...day.sums, ...sums } };
}

/** The builds and the spared CI runs of a day. A day with none is not kept. */
export function countedOn({ sums }: Pick<DaySummary, 'sums'>): number {
  return sums.builds + sums.proved_runs;
}

function credible(seconds: number): number {
  return Number.isNaN(seconds) ? 0 : wholeMilliseconds(Math.min(MOST_SECONDS, Math.max(-MOST_SECONDS, seconds)));
}

/** Returns sorted values with one more, or (-1) one less. */
function changed(values: readonly number[], value: number, sign: 1 | -1): number[] {
  if (sign === 1) return values.length < TIMES_PER_DAY ? [...values, value].sort((a, b) => a - b) : [...values];
  const place = values.indexOf(value);
  return place === -1 ? [...values] : values.toSpliced(place, 1);
}
