import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changePoints } from '../../../../src/server/planning/estimating/change-point.js';
import { normal, type Random, seededRandom } from '../../../testbed/random.js';

const seed = 20_261_122;

/** The noise of real durations: 10 %, and once in a while much more. */
const noise = (random: Random) => Math.exp(random() < 0.03 ? 0.7 * normal(random) : 0.1 * normal(random));

/** Durations of a file whose level in each build is given. */
const series = (random: Random, levels: readonly number[]) => levels.map(level => level * noise(random));
const builds = (count: number, level = 10) => Array.from({ length: count }, () => level);

/** In how many of 1,000 series a change is found that is at most three builds off. */
function found(factor: number, before: number, after: number): number {
  const random = seededRandom(seed);
  const runs = Array.from({ length: 1000 }, () => changePoints(series(random, [...builds(before), ...builds(after, 10 * factor)])));
  return runs.filter(changes => Math.abs((changes.at(-1)?.index ?? -Infinity) - before) <= 3).length;
}

describe('change points', () => {
  it.each([8, 12, 20, 50, 100])('are found in fewer than one of 400 series of %s builds whose level is the same', count => {
    const random = seededRandom(seed + count);
    const runs = Array.from({ length: 2000 }, () => changePoints(series(random, builds(count))));
    expect(runs.filter(changes => changes.length > 0).length).toBeLessThan(2000 / 400);
  });

  it('are found within three builds when a file takes twice as long, and within six to eight when it takes 1.3 times as long', () => {
    expect(found(2, 40, 3)).toBeGreaterThan(950);
    expect(found(2, 40, 5)).toBeGreaterThan(990);
    expect(found(1.3, 40, 6)).toBeGreaterThan(700);
    expect(found(1.3, 40, 8)).toBeGreaterThan(850);
    expect(found(0.5, 40, 4)).toBeGreaterThan(980);
  });

  it('are where the level changed, with the levels on both sides', () => {
    const random = seededRandom(seed);
    const changes = changePoints(series(random, [...builds(20), ...builds(15, 20), ...builds(15, 5)]));
    expect(changes.map(({ index }) => index)).toEqual([20, 35]);
    expect(changes[0]!.before / 10).toBeCloseTo(1, 0.7);
    expect(changes[0]!.after / 20).toBeCloseTo(1, 0.7);
    expect(changes[1]!.before).toBe(changes[0]!.after);
    expect(changes[1]!.after / 5).toBeCloseTo(1, 0.7);
  });

  it('are not made of outliers, however far they are off', () => {
    const outlier = fc.record({ at: fc.nat(49), factor: fc.constantFrom(0.001, 0.1, 5, 1000) });
    fc.assert(
      fc.property(fc.uniqueArray(outlier, { maxLength: 5, selector: ({ at }) => Math.floor(at / 4) }), outliers => {
        const levels = builds(50);
        for (const { at, factor } of outliers) levels[at]! *= factor;
        // Without noise, the first and the last values are the ones that might count.
        expect(changePoints(levels)).toEqual([]);
      }),
      { seed, numRuns: 150 },
    );
  });

  it('are the same whatever the unit', () => {
    const factors = fc.array(fc.double({ min: 0.2, max: 5, noNaN: true }), { maxLength: 60 });
    fc.assert(
      fc.property(factors, fc.constantFrom(0.001, 60), (durations, unit) => {
        const changes = changePoints(durations);
        expect(changePoints(durations.map(each => each * unit)).map(({ index }) => index)).toEqual(changes.map(({ index }) => index));
        for (const { index, before, after } of changes) {
          expect(index).toBeGreaterThanOrEqual(3);
          expect(index).toBeLessThanOrEqual(durations.length - 3);
          expect(Math.max(before / after, after / before)).toBeGreaterThan(1);
        }
      }),
      { seed, numRuns: 150 },
    );
  });

  it('need six builds, and a change of 10 %', () => {
    expect(changePoints([1, 1, 1, 9, 9])).toEqual([]);
    expect(changePoints([1, 1, 1, 9, 9, 9])).toMatchObject([{ index: 3 }]);
    expect(changePoints([...builds(50, 100), ...builds(50, 109)])).toEqual([]);
    expect(changePoints([...builds(50, 100), ...builds(50, 112)])).toMatchObject([{ index: 50 }]);
    expect(changePoints([])).toEqual([]);
  });
});
