import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestSubset } from '../../../src/planning/packing/refine.js';

const seed = 20_260_112;

const sumOf = (numbers: Float64Array, subset: number) => numbers.reduce((sum, number, i) => sum + ((subset >> i) & 1) * number, 0);

describe('the nearest subset', () => {
  it('is as near to the target as any', () => {
    const numbers = fc.array(fc.integer({ min: 1, max: 1_000_000_000 }), { maxLength: 11 });
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1.2, noNaN: true }), (values, part) => {
        const numbers = Float64Array.from(values);
        const target = part * sumOf(numbers, -1);
        const found = sumOf(numbers, nearestSubset(numbers, numbers.length, target));
        let leastDistance = Infinity;
        for (let subset = 0; subset < 2 ** numbers.length; subset++) {
          leastDistance = Math.min(leastDistance, Math.abs(sumOf(numbers, subset) - target));
        }
        expect(Math.abs(found - target)).toBe(leastDistance);
      }),
      { seed, numRuns: 200 },
    );
  });

  it('contains the first numbers only', () => {
    expect(nearestSubset(Float64Array.of(1, 2, 4, 8), 3, 8)).toBe(0b111);
  });
});
