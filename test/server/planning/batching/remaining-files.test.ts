import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RemainingFiles } from '../../../../src/server/planning/batching/remaining-files.js';

const seed = 20_260_104;

const weights = fc
  .oneof(...[3, 1000].map(max => fc.array(fc.integer({ min: 1, max }), { minLength: 1, maxLength: 80 })))
  .map(values => Float64Array.from(values.sort((a, b) => b - a)));

describe('the remaining files of a queue', () => {
  it('that were put back come first, in their order', () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 0, max: 3000 }), fc.nat(), (all, amount, pick) => {
        const remaining = new RemainingFiles(all);
        const batches: number[][] = [];
        for (let i = 0; i < 4; i++) batches.push(remaining.take(300));
        const back = batches.filter((_, i) => (pick >> i) % 2 === 1).flat();
        remaining.putBack(back);
        const taken: number[] = [];
        while (taken.length < back.length) taken.push(...remaining.take(amount));
        expect(taken.slice(0, back.length)).toEqual(back);
      }),
      { seed, numRuns: 100 },
    );
  });
});
