import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meanLatency, percentile, withoutCorrection } from '../../bench/load/wrk-latencies.js';

/** `stats_correct` of wrk 4.1. */
function correct(measured: ReadonlyMap<number, number>, mean: number): Map<number, number> {
  const corrected = new Map(measured);
  const max = Math.max(0, ...measured.keys());
  for (let slow = 2 * mean; slow <= max; slow++) {
    const count = measured.get(slow) ?? 0;
    for (let added = slow - mean; count > 0 && added > mean; added -= mean) corrected.set(added, (corrected.get(added) ?? 0) + count);
  }
  return corrected;
}

const latencies = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 40 })
  .map(entries => new Map(entries));

describe('latencies of wrk', () => {
  it('are those that were measured before wrk corrected them', () => {
    fc.assert(
      fc.property(latencies, fc.integer({ min: 1, max: 100 }), (measured, mean) => {
        expect(withoutCorrection(correct(measured, mean), mean)).toEqual(measured);
      }),
    );
  });

  it('are not changed where wrk corrects nothing', () => {
    const mean = meanLatency(63, 1_000_000, 64);
    expect(withoutCorrection(new Map([[5, 2]]), mean)).toEqual(new Map([[5, 2]]));
  });

  it('have the mean that wrk computes', () => {
    expect(meanLatency(1000, 1_000_000, 64)).toBe(66_666);
  });

  it('have percentiles', () => {
    const measured = new Map([
      [30, 1],
      [10, 98],
      [20, 1],
    ]);
    expect([50, 98, 99, 100].map(percent => percentile(measured, percent))).toEqual([10, 10, 20, 30]);
    expect(percentile(new Map(), 99)).toBe(0);
  });
});
