import { describe, expect, it } from 'vitest';
import { growthSentences, spansOf } from '../../../../src/dashboard/pages/trends/growth.js';
import { noSettings } from '../../../../src/protocol/project-settings.js';
import { countOn, emptyDay } from '../../../../src/server/engine/days/days.js';
import type { DaySummary } from '../../../../src/server/engine/ports/summaries.js';
import { buildTrend } from '../../../../src/server/insight/trends/build-trend.js';
import { summaryOf } from '../../store/contract/fixtures.js';

const LAST_DAY = 20_000;
const FILES = 200;

/** A day of builds, each given by the seconds that its test files took. */
const dayOf = (day: number, builds: readonly number[]): DaySummary =>
  builds.reduce((sum, test_seconds) => countOn(sum, summaryOf({ test_seconds, line: { wall: test_seconds / 5 } }), 1), emptyDay(day));

const trendOf = (all: readonly DaySummary[]) => {
  const summaries = { days: (_: number, _b: string | null, from: number, to: number) => all.filter(({ day }) => day >= from && day <= to) };
  return (from: number, to: number, by: 'day' | 'range') => buildTrend(summaries, 1, 'main', { from, to }, by, noSettings);
};

describe('the tests of two weeks, which grew by 4.2 % in the second one', () => {
  it('are said to take 4.2 % more, although one build a day ran two files only', async () => {
    const days = Array.from({ length: 14 }, (_, i) => {
      const whole = 1000 * (i < 7 ? 1 : 1.042);
      // The second week has one build more of few files: its mean is smaller than its builds tell.
      const few = Array<number>(i < 7 ? 0 : 1).fill((2 * whole) / FILES);
      return dayOf(LAST_DAY - 13 + i, [...Array<number>(20 - few.length).fill(whole), ...few]);
    });
    const trend = trendOf(days);
    const spans = spansOf(await trend(LAST_DAY - 13, LAST_DAY, 'day'));
    const [first] = (await trend(LAST_DAY - 13, LAST_DAY - 7, 'range')).days;
    const [last] = (await trend(LAST_DAY - 6, LAST_DAY, 'range')).days;
    expect(growthSentences({ spans, first: first!, last: last!, total: null, grown: null })).toEqual([
      'The tests take 4.2\u202f% more in all than 13 days ago: 17 m 22 s in the median build, from 16 m 40 s.',
      'The median build takes 3 m 28 s, from 3 m 20 s.',
    ]);
  });
});
