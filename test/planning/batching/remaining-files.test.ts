import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RemainingFiles } from '../../../src/planning/batching/remaining-files.js';

const seed = 20_260_104;

const weights = fc
  .oneof(...[3, 1000].map(max => fc.array(fc.integer({ min: 1, max }), { minLength: 1, maxLength: 80 })))
  .map(values => Float64Array.from(values.sort((a, b) => b - a)));

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ verb: fc.constant('take' as const), amount: fc.integer({ min: 0, max: 3000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('putBack' as const), amount: fc.nat() }) },
);

const weightOf = (all: Float64Array, files: Iterable<number>) => [...files].reduce((sum, file) => sum + all[file]!, 0);

describe('the remaining files of a queue', () => {
  it('are taken once each and never lost, whatever is put back in between', () => {
    fc.assert(
      fc.property(weights, fc.array(step, { maxLength: 60 }), (all, steps) => {
        const remaining = new RemainingFiles(all);
        const left = new Set(all.keys());
        const out: number[][] = [];
        const take = (amount: number) => {
          const files = remaining.take(amount);
          for (const file of files) expect(left.delete(file), `file ${file} was taken twice`).toBe(true);
          if (files.length > 0) out.push(files);
          else expect(left.size).toBe(0);
        };
        for (const { verb, amount } of steps) {
          if (verb === 'take') take(amount);
          else if (out.length > 0) {
            const [files] = out.splice(amount % out.length, 1);
            remaining.putBack(files!);
            for (const file of files!) left.add(file);
          }
          expect(remaining.count).toBe(left.size);
          expect(remaining.weight).toBe(weightOf(all, left));
        }
        while (left.size > 0) take(100);
        expect(out.flat().sort((a, b) => a - b)).toEqual([...all.keys()]);
        expect(remaining.take(Infinity)).toEqual([]);
      }),
      { seed, numRuns: 150 },
    );
  });

  it('are taken longest first, and while they fit', () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 0, max: 3000 }), (all, amount) => {
        const remaining = new RemainingFiles(all);
        const left = new Set(all.keys());
        while (left.size > 0) {
          const files = remaining.take(amount);
          expect(all[files[0]!]).toBe(Math.max(...[...left].map(file => all[file]!)));
          if (files.length > 1) expect(weightOf(all, files)).toBeLessThanOrEqual(amount);
          for (const file of files) left.delete(file);
          const room = amount - weightOf(all, files);
          for (const file of left) expect(all[file], 'a file that still fits').toBeGreaterThan(room);
        }
      }),
      { seed, numRuns: 100 },
    );
  });

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

  it('exclude a removed file, and removing it twice changes nothing', () => {
    fc.assert(
      fc.property(weights, fc.array(fc.nat(), { maxLength: 100 }), (all, picks) => {
        const remaining = new RemainingFiles(all);
        const left = new Set(all.keys());
        for (const pick of picks) {
          remaining.remove(pick % all.length);
          left.delete(pick % all.length);
          expect(remaining.count).toBe(left.size);
          expect(remaining.weight).toBe(weightOf(all, left));
        }
        expect(new Set(remaining.take(Infinity))).toEqual(left);
      }),
      { seed, numRuns: 100 },
    );
  });
});
