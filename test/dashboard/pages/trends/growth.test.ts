import { describe, expect, it } from 'vitest';
import { growthSentences, spansOf } from '../../../../src/dashboard/pages/trends/growth.js';
import type { DayTrend, FileTrend } from '../../../../src/protocol/answers/trends.js';

const dayOf = (day: string, median_test_seconds: number | null, median_wall = median_test_seconds && median_test_seconds / 5) =>
  ({ day, median_test_seconds, median_wall }) as DayTrend;
const days = (...dates: string[]) => dates.map(date => dayOf(date, 60));
const change = { at: '2026-11-20T10:00:00Z', commit_hash: '4d5e6f7a8b', factor: 2, seconds: 40 };
const grown = { path: 'spec/checkout_spec.rb', change } as FileTrend;

describe('the days that are compared', () => {
  it('are a week at both ends, of a longer range four', () => {
    expect(spansOf({ to: '2026-11-30', days: days('2026-11-01', '2026-11-12', '2026-11-30') })).toEqual({
      first: { from: '2026-11-01', to: '2026-11-07' },
      last: { from: '2026-11-24', to: '2026-11-30' },
      ...{ days: 7, apart: 29, isNow: true },
    });
    const year = spansOf({ to: '2026-11-30', days: days('2026-01-01', '2026-11-30') });
    expect(year).toMatchObject({ first: { to: '2026-01-28' }, last: { from: '2026-11-03' }, days: 28 });
  });

  it('never overlap, and end with the last day that has builds', () => {
    const few = spansOf({ to: '2026-11-30', days: days('2026-11-18', '2026-11-20') });
    const day = (date: string) => ({ from: date, to: date });
    expect(few).toEqual({ first: day('2026-11-18'), last: day('2026-11-20'), days: 1, apart: 2, isNow: false });
  });

  it('are none while builds of a single day are known', () => {
    expect(spansOf({ to: '2026-11-30', days: days('2026-11-30') })).toBe(null);
    expect(spansOf({ to: '2026-11-30', days: [] })).toBe(null);
  });
});

describe('the first line of the trends', () => {
  const spans = spansOf({ to: '2026-11-30', days: days('2026-10-31', '2026-11-30') })!;
  const told = (before: DayTrend | null, now: DayTrend | null, file: FileTrend | null = null) =>
    growthSentences({ spans, first: before, last: now, total: dayOf('2026-10-31', 2400), grown: file });

  it('says that the tests grow, by how much, and with which commit', () => {
    expect(told(dayOf('2026-10-31', 2220), dayOf('2026-11-24', 2486, 450), grown)).toEqual([
      'The tests take 12\u202f% more in all than 30 days ago: 41 m 26 s in the median build, from 37 m 00 s.',
      'The median build takes 7 m 30 s, about as before.',
      'spec/checkout_spec.rb grew most: +40 s with 4d5e6f7a.',
    ]);
  });

  it('says that they shrink, or take as long as before', () => {
    expect(told(dayOf('2026-10-31', 2000), dayOf('2026-11-24', 1000))).toEqual([
      'The tests take 50\u202f% less in all than 30 days ago: 16 m 40 s in the median build, from 33 m 20 s.',
      'The median build takes 3 m 20 s, from 6 m 40 s.',
    ]);
    expect(told(dayOf('2026-10-31', 2000), dayOf('2026-11-24', 2040))[0]).toBe(
      'The tests take about as long in all as 30 days ago: 34 m 00 s in the median build.',
    );
  });

  it('says first that builds end sooner, if the tests take as long as before', () => {
    expect(told(dayOf('2026-10-31', 2400, 1618), dayOf('2026-11-24', 2410, 1274))).toEqual([
      'The median build takes 21 m 14 s, from 26 m 58 s 30 days ago.',
      'The tests take about as long in all as 30 days ago: 40 m 10 s in the median build.',
    ]);
  });

  it('compares nothing where one end has no complete build', () => {
    const [first] = told(dayOf('2026-10-31', null), dayOf('2026-11-24', 2000), grown);
    expect(first).toBe('The tests take 40 m 00 s in all in the median build: too few days have complete builds to say whether they grow.');
    expect(growthSentences({ spans: null, first: null, last: null, total: null, grown: null })).toEqual(['No build ended in these days.']);
  });
});
