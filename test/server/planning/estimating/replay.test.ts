import { describe, expect, it } from 'vitest';
import { replay } from '../../../../src/server/planning/estimating/replay.js';
import { normal, seededRandom } from '../../../testbed/random.js';

const seed = 20_261_122;
const DAY = 86_400_000;
const times = (seconds: readonly number[]) => seconds.map((each, i) => ({ seconds: each, at: i * DAY }));

describe('the estimates before each build', () => {
  it('begin after the first, and follow the file', () => {
    const [first, second, ...rest] = replay(times([4, 5, 5, 5, 5, 5, 5, 10, 10, 10, 10]));
    expect(first).toBeNull();
    expect(second!.estimate).toBe(4);
    expect(rest[4]!.estimate).toBeCloseTo(5, 1);
    expect(rest.at(-1)!.estimate).toBeGreaterThan(8);
    expect(replay([])).toEqual([]);
  });

  it.each([0.02, 0.1, 0.3])('have bands that hold about two of three builds of a file that varies by %s', deviation => {
    const random = seededRandom(seed);
    let [inside, all] = [0, 0];
    for (let file = 0; file < 60; file++) {
      const seconds = Array.from({ length: 60 }, () => 10 * Math.exp(deviation * normal(random)));
      for (const [i, expected] of replay(times(seconds)).entries()) {
        if (i < 20) continue;
        expect(expected!.low).toBeLessThan(expected!.estimate);
        all += 1;
        if (seconds[i]! >= expected!.low && seconds[i]! <= expected!.high) inside += 1;
      }
    }
    expect(inside / all).toBeGreaterThan(0.6);
    // Of a very steady file it is wider.
    expect(inside / all).toBeLessThan(deviation < 0.1 ? 1 : 0.76);
  });
});
