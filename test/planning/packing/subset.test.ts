import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestSubset } from '../../../src/planning/packing/subset.js';

const seed = 20_260_112;

const sumOf = (numbers: Float64Array, subset: number) => numbers.reduce((sum, number, i) => sum + ((subset >> i) & 1) * number, 0);

describe('the nearest subset', () => {
  it('is as near to the target as any', () => {
    const numbers = fc.array(fc.integer({ min: 1, max: 1_000_000_000 }), { maxLength: 11 });
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1.2, noNaN: true }), (values, part) => {
        const given = Float64Array.from(values);
        const target = part * sumOf(given, -1);
        const found = sumOf(given, nearestSubset(given, given.length, target));
        let least = Infinity;
        for (let subset = 0; subset < 2 ** given.length; subset++) {
          least = Math.min(least, Math.abs(sumOf(given, subset) - target));
        }
        expect(Math.abs(found - target)).toBe(least);
      }),
      { seed, numRuns: 200 },
    );
  });

  it('is looked for among the first numbers only', () => {
    expect(nearestSubset(Float64Array.of(1, 2, 4, 8), 3, 8)).toBe(0b111);
  });
});
