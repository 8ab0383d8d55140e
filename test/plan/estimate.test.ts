import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimate } from '../../src/plan/estimate.js';

const seed = 20_260_102;

const seconds = fc.double({ min: 0.000_01, max: 5000, noNaN: true });
const suite = fc.uniqueArray(fc.tuple(fc.string({ minLength: 3, maxLength: 8 }), fc.option(seconds)), {
  selector: ([path]) => path,
  maxLength: 60,
});

const estimateSuite = (files: readonly (readonly [string, number | null])[]) =>
  estimate(
    files.map(([path]) => path),
    files.map(([, time]) => time),
  );

describe('estimates', () => {
  it('keep every path with its measured time, null where it was never measured', () => {
    fc.assert(
      fc.property(suite, files => {
        const answered = estimateSuite(files).map(({ path, time_execution }) => [path, time_execution] as const);
        expect(new Map(answered)).toEqual(new Map(files));
        expect(answered.length).toBe(files.length);
      }),
      { seed, numRuns: 200 },
    );
  });

  it('come slowest first, equal ones by path', () => {
    fc.assert(
      fc.property(suite, files => {
        const estimates = estimateSuite(files);
        for (let i = 1; i < estimates.length; i++) {
          const [before, after] = [estimates[i - 1]!, estimates[i]!];
          expect(before.weight).toBeGreaterThanOrEqual(after.weight);
          if (before.weight === after.weight) expect(before.path < after.path).toBe(true);
        }
      }),
      { seed, numRuns: 200 },
    );
  });

  it('plan a measured file with its time, and take no file for free', () => {
    fc.assert(
      fc.property(suite, files => {
        for (const { time_execution, weight } of estimateSuite(files)) {
          expect(weight).toBeGreaterThan(0);
          if (time_execution !== null && time_execution >= 0.001) expect(weight).toBe(time_execution);
        }
      }),
      { seed, numRuns: 200 },
    );
  });

  it('take a new file for one of the slower known ones, but for none slower than all', () => {
    fc.assert(
      fc.property(suite, files => {
        const known = files.flatMap(([, time]) => (time === null ? [] : [Math.max(time, 0.001)]));
        fc.pre(known.length > 0);
        for (const { time_execution, weight } of estimateSuite(files)) {
          if (time_execution !== null) continue;
          expect(weight).toBeLessThanOrEqual(Math.max(...known));
          const notSlower = known.filter(time => time <= weight).length;
          expect(notSlower / known.length).toBeGreaterThanOrEqual(0.75);
        }
      }),
      { seed, numRuns: 300 },
    );
  });

  it('take all files for equal while nothing was ever measured', () => {
    const estimates = estimate(['b_spec.rb', 'a_spec.rb', 'c_spec.rb'], [null, null, null]);
    expect(estimates.map(({ path }) => path)).toEqual(['a_spec.rb', 'b_spec.rb', 'c_spec.rb']);
    expect(new Set(estimates.map(({ weight }) => weight)).size).toBe(1);
  });

  it('are the same whatever order the files are listed in', () => {
    fc.assert(
      fc.property(suite, files => {
        expect(estimateSuite([...files].reverse())).toEqual(estimateSuite(files));
      }),
      { seed, numRuns: 100 },
    );
  });
});
