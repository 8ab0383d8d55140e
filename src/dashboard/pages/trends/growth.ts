import { DAY_MILLISECONDS, dateOf } from '../../../base/time.js';
import type { BuildTrend, DayTrend, FileTrend } from '../../../protocol/answers/trends.js';
import { count, duration, percent } from '../../text/format.js';
import { commitOf, pathInSentence } from '../../text/in-sentence.js';

/** Two spans of days that are compared: the first and the last of those with builds. Dates as 2026-11-22. */
export interface Spans {
  first: { from: string; to: string };
  last: { from: string; to: string };
  /** Days of each. */
  days: number;
  /** Days between the first and the last day. */
  apart: number;
  /** The last one ends with the range. */
  isNow: boolean;
}

/** Returns the days at both ends of a range that are compared: a week, or of a longer range four. Null: too few days have builds. */
export function spansOf({ to, days }: Pick<BuildTrend, 'to' | 'days'>): Spans | null {
  const [begin, end] = [days[0], days.at(-1)].map(day => day && Date.parse(day.day) / DAY_MILLISECONDS);
  if (begin === undefined || end === undefined || begin === end) return null;
  const length = Math.min(end - begin > 120 ? 28 : 7, Math.floor((end - begin + 1) / 2));
  return {
    first: { from: dateOf(begin), to: dateOf(begin + length - 1) },
    last: { from: dateOf(end - length + 1), to: dateOf(end) },
    days: length,
    apart: end - begin,
    isNow: dateOf(end) === to,
  };
}

/** A ratio between this and its inverse is none that a sentence names. */
const AS_BEFORE = 1.03;
const isAsBefore = (before: number, now: number) => now <= before * AS_BEFORE && before <= now * AS_BEFORE;

interface Growth {
  spans: Spans | null;
  first: DayTrend | null;
  last: DayTrend | null;
  /** All days of the range; null: none has builds. */
  total: DayTrend | null;
  /** The file that grew most; missing: none did. */
  grown: FileTrend | null | undefined;
  /** Of all files; missing: not known. */
  paths?: readonly string[] | undefined;
}

/** Says whether the tests grow: in their time in all, in the wall time, and in the file that grew most. */
export function growthSentences({ spans, first, last, total, grown, paths }: Growth): string[] {
  const file = grown?.change
    ? [`${pathInSentence(grown.path, paths)} grew most: +${duration(grown.change.seconds)} with ${commitOf(grown.change.commit_hash)}.`]
    : [];
  const [before, now] = [first?.median_test_seconds, last?.median_test_seconds];
  if (!spans || !before || !now) {
    if (!total) return ['No build ended in these days.', ...file];
    if (!total.median_test_seconds) return ['No build of these days ended complete.', ...file];
    return [
      `The tests take ${duration(total.median_test_seconds)} in all in the median build: too few days have complete builds to say whether they grow.`,
      `The median build takes ${duration(total.median_wall)}.`,
      ...file,
    ];
  }
  const when = `${count(spans.apart, 'day')} ${spans.isNow ? 'ago' : 'before'}`;
  const areTestsAsBefore = isAsBefore(before, now);
  const tests = areTestsAsBefore
    ? `The tests take about as long in all as ${when}: ${duration(now)} in the median build.`
    : `The tests take ${percent(Math.abs(now / before - 1))} ${now > before ? 'more' : 'less'} in all than ${when}: ${duration(now)} in the median build, from ${duration(before)}.`;
  if (isAsBefore(first!.median_wall!, last!.median_wall!))
    return [tests, `The median build takes ${duration(last!.median_wall)}, about as before.`, ...file];
  const build = `The median build takes ${duration(last!.median_wall)}, from ${duration(first!.median_wall)}`;
  // What changed is said first.
  return areTestsAsBefore ? [`${build} ${when}.`, tests, ...file] : [tests, `${build}.`, ...file];
}
