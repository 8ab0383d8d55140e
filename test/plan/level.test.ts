import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUpHistory, randomOf, residual } from '../../bench/suites.js';
import { follow, type Level, secondsOf } from '../../src/plan/level.js';

const seed = 20_260_111;
const DAY = 86_400_000;

/** The level after these times, so many days apart. */
const levelAfter = (seconds: readonly number[], days = 1): Level =>
  seconds.reduce<Level | null>((level, time, i) => follow(level, time, i * days * DAY), null)!;
const after = (seconds: readonly number[], days = 1) => secondsOf(levelAfter(seconds, days));

const ten = Array.from({ length: 10 }, (_, i) => 10 + (i % 3) / 10);

describe('the level of a path', () => {
  it('is the first time, then between what was measured', () => {
    expect(after([10])).toBeCloseTo(10, 10);
    expect(after([10, 12])).toBeGreaterThan(10);
    expect(after([10, 12])).toBeLessThan(12);
  });

  it('follows a change within a few builds', () => {
    expect(after([...ten, 15, 15, 15])).toBeGreaterThan(14);
    expect(after([...ten, 5, 5, 5])).toBeLessThan(6);
  });

  it('is hardly moved by one absurd time, and follows when it repeats', () => {
    expect(after([...ten, 28_800])).toBeLessThan(11);
    expect(after([...ten, 28_800, 10, 10])).toBeLessThan(11);
    expect(after([...ten, 28_800, 28_800])).toBeGreaterThan(14_400);
    expect(after([...ten, 28_800, 28_800, 10, 10])).toBeLessThan(20);
  });

  it('runs after noise the less the longer there is nothing but noise', () => {
    const random = randomOf(3);
    const noise = Array.from({ length: 200 }, () => 10 * residual(random));
    const moves = (times: readonly number[]) => Math.abs(Math.log(after([...times, 12], 0) / after(times, 0)));
    expect(moves(noise)).toBeLessThan(moves(noise.slice(0, 5)) / 2);
  });

  it('is moved more by a time that comes after months', () => {
    const level = levelAfter(ten);
    const [soon, late] = [10, 200].map(days => secondsOf(follow(level, 13, days * DAY)));
    expect(late).toBeGreaterThan(soon!);
  });

  it('is finite and within what was measured, whatever that is and whenever', () => {
    const time = fc.record({
      seconds: fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true }),
      at: fc.integer({ min: -1e15, max: 1e15 }),
    });
    fc.assert(
      fc.property(fc.array(time, { minLength: 1, maxLength: 40 }), times => {
        let level: Level | null = null;
        for (const { seconds, at } of times) level = follow(level, seconds, at);
        for (const value of Object.values(level!)) expect(Number.isFinite(value)).toBe(true);
        const logs = times.map(({ seconds }) => Math.log(seconds));
        expect(level!.log).toBeGreaterThanOrEqual(Math.min(...logs) - 1e-9);
        expect(level!.log).toBeLessThanOrEqual(Math.max(...logs) + 1e-9);
      }),
      { seed, numRuns: 300 },
    );
  });
});

describe('the error of levels', () => {
  /** Over that of the last times. */
  function error(days: number): number {
    let [ours, last] = [0, 0];
    for (const { versions } of [1, 2, 3].map(each => madeUpHistory(each, 80, 20, days))) {
      const levels = new Map<string, Level>();
      const times = new Map<string, number>();
      for (const { at, timings } of versions) {
        for (const [path, seconds] of timings) {
          const level = levels.get(path) ?? null;
          if (level) {
            ours += Math.abs(secondsOf(level) - seconds);
            last += Math.abs(times.get(path)! - seconds);
          }
          levels.set(path, follow(level, seconds, at));
          times.set(path, seconds);
        }
      }
    }
    return ours / last;
  }

  it.each([0, 0.05, 1, 7])('is smaller than that of the last times, with builds %d days apart', days => {
    expect(error(days)).toBeLessThan(0.95);
  });
});
