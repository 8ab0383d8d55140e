import { describe, expect, it } from 'vitest';
import {
  type BuildsOfDay,
  cleanBuilds,
  type FileEvidence,
  intervalOf,
  rateAt,
  stateOf,
} from '../../../../src/server/insight/flaky/file-state.js';
import { DAY, NOW } from '../../store/contract/fixtures.js';

const TODAY = NOW / DAY;
const at = (day: number) => NOW + day * DAY;
const days = (from: number, to: number, builds = 10): BuildsOfDay[] =>
  Array.from({ length: to - from }, (_, i) => ({ day: TODAY + from + i, builds }));
const evidence = (flakes: readonly number[], undecided: readonly number[] = []): FileEvidence => ({
  flakes: flakes.map((day, i) => ({ at: at(day), commit_hash: `c${i}` })),
  undecided: undecided.map(at),
});
const stateAfter = (own: FileEvidence, all: readonly BuildsOfDay[], isFailing = false) => stateOf(own, cleanBuilds(own, all), isFailing);

describe('the interval of a rate', () => {
  it.each([
    [0, 10],
    [1, 10],
    [5, 10],
    [2.5, 7.25],
    [10, 200],
    [200, 200],
  ])('of %d in %d builds ends where what was seen is 1.645 standard deviations away', (x, n) => {
    const { low, high } = intervalOf(x, n);
    for (const rate of [low, high].filter(each => each > 0 && each < 1))
      expect(Math.abs(x / n - rate) / Math.sqrt((rate * (1 - rate)) / n)).toBeCloseTo(1.6449, 8);
    expect([low <= x / n, x / n <= high, low === 0, high === 1]).toEqual([true, true, x === 0, x === n]);
  });

  it('of no build is everything', () => {
    expect(intervalOf(0, 0)).toEqual({ low: 0, high: 1 });
  });
});

describe('the rate of a file', () => {
  it('counts flakes among all builds, one half more each', () => {
    expect(rateAt(at(0), evidence([0, 0]), [{ day: TODAY, builds: 9 }]).rate).toBeCloseTo(2.5 / 10);
    expect(rateAt(at(0), evidence([]), []).rate).toBeCloseTo(0.5);
  });

  it('halves what is known every 14 days', () => {
    const { rate } = rateAt(at(14), evidence([0]), [
      { day: TODAY, builds: 40 },
      { day: TODAY + 14, builds: 10 },
    ]);
    expect(rate).toBeCloseTo((0.5 + 0.5) / (20 + 10 + 1));
  });

  it('leaves out builds in which it failed and never passed, and what came later', () => {
    const { rate } = rateAt(at(0), evidence([0, 1], [0, 0, 1]), [
      { day: TODAY, builds: 10 },
      { day: TODAY + 1, builds: 99 },
    ]);
    expect(rate).toBeCloseTo(1.5 / 9);
  });

  it('is of no more flakes than builds, also if the builds of a day have expired', () => {
    expect(rateAt(at(0), evidence([0, 0, 0]), [])).toMatchObject({ rate: 3.5 / 4, high: 1 });
  });
});

describe('a file', () => {
  it.each<[state: string | null, own: FileEvidence, all: BuildsOfDay[]]>([
    ['suspected', evidence([0]), days(-5, 1)],
    ['flaky', evidence([-1, 0]), days(-5, 1)],
    [null, evidence([], [0]), days(-5, 1)],
  ])('is %s', (state, own, all) => {
    expect(stateAfter(own, all)).toBe(state);
  });

  it('is suspected after several flakes at one commit', () => {
    const own = { flakes: [0, 0].map(day => ({ at: at(day), commit_hash: 'same' })), undecided: [] };
    expect(stateAfter(own, days(-5, 1))).toBe('suspected');
  });

  it('is failing, whatever else it is', () => {
    expect(stateAfter(evidence([0]), days(-5, 1), true)).toBe('failing');
    expect(stateAfter(evidence([]), days(-5, 1), true)).toBe('failing');
  });

  it('heals with as many builds as three flakes would have taken', () => {
    // 10 builds a day: 1 of 10 at its last flakes.
    const own = evidence([0]);
    const before = [{ day: TODAY, builds: 14 }];
    const after = (clean: number) => [...before, { day: TODAY + 1, builds: clean }];
    expect(cleanBuilds(own, after(12))).toEqual({ builds: 12, of: 30 });
    expect([0, 9, 10, 29, 30].map(clean => stateAfter(own, after(clean)))).toEqual([
      'suspected',
      'suspected',
      'healing',
      'healing',
      'healed',
    ]);
  });

  it('is not clean in builds in which it failed and never passed', () => {
    expect(cleanBuilds(evidence([0], [1, 1]), [...days(0, 1, 14), ...days(1, 2, 5)])).toEqual({ builds: 3, of: 30 });
  });
});
