import { describe, expect, it } from 'vitest';
import { estimateOf, expectationOf, type Measurement, measure, type Timing } from '../../../../src/server/planning/estimating/timing.js';

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

/** The timing after builds a day apart, given the seconds of their runs. */
function timingAfter(builds: readonly (readonly number[])[]): Timing {
  let timing: Timing | undefined;
  builds.forEach((runs, build) => {
    runs.forEach((seconds, run) => {
      timing = measure(timing, measurement(build, seconds, run === 0 ? {} : { run: 'retried' })) ?? timing;
    });
  });
  return timing!;
}

function measurement(build: number, seconds: number, more: Partial<Measurement> = {}): Measurement {
  return { build, seconds, at: NOW + build * DAY, began: NOW + build * DAY, run: 'first', ...more };
}

describe('a timing', () => {
  it('of one build is exactly the measured time', () => {
    for (const seconds of [1e-9, 0.0001, 0.1 + 0.2, 41.5, 1e300]) expect(estimateOf(timingAfter([[seconds]]))).toBe(seconds);
  });

  it('counts a build once, however often it ran the path', () => {
    const once = timingAfter([[10], [20], [14]]);
    const often = timingAfter([[10], [20, 20, 20, 20, 20], [14]]);
    expect(estimateOf(often)).toBe(estimateOf(once));
  });

  it('keeps the newest runs of a build only', () => {
    const timing = timingAfter([Array.from({ length: 101 }, (_, i) => i + 1)]);
    expect(timing.times.length).toBeLessThan(10);
    expect(timing.times.at(-1)).toBe(101);
  });

  it('of the smallest possible times is positive, and follows larger ones', () => {
    const smallest = Number.MIN_VALUE;
    expect(estimateOf(timingAfter([[smallest, smallest]]))).toBe(smallest);
    const seconds = estimateOf(timingAfter([[smallest, smallest], [1], [1], [1]]));
    expect(seconds).toBeGreaterThan(0.5);
    expect(seconds).toBeLessThanOrEqual(1);
  });
});

describe('what a timing tells', () => {
  it('counts the builds that measured the path', () => {
    const counts = [[[10]], [[10, 11]], [[10], [12]], [[10], [12, 13, 9], [11]]].map(builds => expectationOf(timingAfter(builds)).builds);
    expect(counts).toEqual([1, 1, 2, 3]);
  });

  it('has a deviation that is smaller while the times agree, and larger while they grow', () => {
    const histories = [[[10]], Array.from({ length: 20 }, () => [10]), Array.from({ length: 20 }, (_, i) => [10 * 1.3 ** i])];
    const [once, steady, growing] = histories.map(builds => expectationOf(timingAfter(builds)).deviation) as [number, number, number];
    expect(once).toBeCloseTo(Math.sqrt(0.07));
    expect(steady).toBeLessThan(0.2);
    expect(growing).toBeGreaterThan(1.3 * steady);
  });
});

describe('the first measurement on a branch', () => {
  const elsewhere = timingAfter([[10], [10], [10]]);

  it('counts alone, even if other branches have timings', () => {
    const timing = measure(undefined, measurement(4, 25), elsewhere)!;
    expect(estimateOf(timing)).toBe(25);
  });

  it('counts little when it is absurd compared with other branches', () => {
    const timing = measure(undefined, measurement(4, 28_800), elsewhere)!;
    expect(estimateOf(timing)).toBeLessThan(100);
  });
});
