import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectationOn, measureOn } from '../../../../src/server/planning/estimating/branch-timings.js';
import { decodeExpectationOn, decodeTimings, encodeTimings } from '../../../../src/server/store/codecs/timing-codec.js';

const seed = 20_260_113;
const NOW = Date.UTC(2026, 0, 1);

const measurement = fc.record({
  branch: fc.integer({ min: 1, max: 12 }),
  build: fc.integer({ min: 1, max: 2 ** 48 - 1 }),
  seconds: fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true }),
  at: fc.integer({ min: 0, max: 1000 * 2 ** 32 - 1 }),
});

describe('timings in bytes', () => {
  it('are the same when they are decoded', () => {
    fc.assert(
      fc.property(fc.array(measurement, { minLength: 1, maxLength: 40 }), measurements => {
        let bytes: Buffer | null = null;
        for (const { branch, ...rest } of measurements) {
          const known = bytes ? decodeTimings(bytes).timings : [];
          const timings = measureOn(known, branch, 1, { ...rest, began: 0, run: 'first' })!;
          bytes = encodeTimings({ project: rest.build % 2 ** 32, seen_at: rest.at, timings });
          const { project, seen_at, timings: decoded } = decodeTimings(bytes);
          expect([project, seen_at]).toEqual([rest.build % 2 ** 32, rest.at]);
          expect(decoded).toEqual(timings);
          for (const own of [branch, 1, 13]) expect(decodeExpectationOn(bytes, own, 1)).toEqual(expectationOn(decoded, own, 1));
          expect(decodeExpectationOn(bytes, 13, null)).toEqual(expectationOn(decoded, 13, null));
        }
        expect(bytes!.length).toBeLessThan(1400);
      }),
      { seed, numRuns: 200 },
    );
  });

  it('have a time that fits, even if the clock is far off', () => {
    const timing = { branch: null, before: null, build: 1, times: [1] };
    const at = (millis: number) =>
      decodeTimings(encodeTimings({ project: 1, seen_at: 0, timings: [{ ...timing, at: millis }] })).timings[0]!.at;
    expect([-5, 1.5, 1e300].map(at)).toEqual([0, 1, 2 ** 48 - 1]);
  });

  it('of a path that was never measured have no branch', () => {
    expect(decodeExpectationOn(encodeTimings({ project: 1, seen_at: 5, timings: [] }), 1, 2)).toBeUndefined();
  });

  it('have a level whose time is in seconds, and as many builds as fit', () => {
    const level = { log: 0, variance: 0.5, drift: 0.25, residual: 0, at: NOW + 1999, builds: 70_000 };
    const timing = { branch: 1, before: level, build: 1, times: [1], at: NOW };
    const decoded = decodeTimings(encodeTimings({ project: 1, seen_at: 0, timings: [timing] })).timings;
    expect(decoded).toEqual([{ ...timing, before: { ...level, at: NOW + 1000, builds: 65_535 } }]);
  });

  it('of another version are refused', () => {
    expect(() => decodeTimings(Buffer.from([9]))).toThrow('timings have version 9, and this Ballast reads 1');
  });
});
