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

  it('that only takeFirst takes are all there, whatever is put back and taken', () => {
    fc.assert(
      fc.property(weights, fc.array(fc.nat(79), { maxLength: 5 }), fc.nat(), (all, some, pick) => {
        const first = [...new Set(some)].filter(file => file < all.length);
        const remaining = new RemainingFiles(all, first);
        const batches: number[][] = [];
        for (let i = 0; remaining.count > 0; i++) {
          const isFirst = remaining.hasFirst && (remaining.slowest === null || (pick >> i) % 2 === 1);
          const taken = isFirst ? remaining.takeFirst(300) : remaining.take(300);
          expect(taken.filter(file => first.includes(file) === isFirst)).toEqual(taken);
          if ((pick >> i) % 3 === 1) remaining.putBack(taken);
          else batches.push(taken);
        }
        expect(remaining.weight).toBe(0);
        expect(batches.flat().sort((a, b) => a - b)).toEqual(Array.from(all.keys()));
        expect(batches.flat().filter(file => first.includes(file))).toEqual(first);
      }),
      { seed, numRuns: 100 },
    );
  });

  it('are taken by name, also those that are put back or come first', () => {
    const remaining = new RemainingFiles(new Float64Array(4).fill(10), [2]);
    remaining.putBack(remaining.take(10));
    remaining.reclaim([0, 2, 3]);
    expect([remaining.count, remaining.hasFirst, remaining.take(100)]).toEqual([1, false, [1]]);
  });
});
