import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Level, secondsOf, updateLevel } from '../../../../src/server/planning/estimating/level.js';

const seed = 20_260_104;
const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

const settled = [10, 10.3, 9.9, 10.1, 10.2, 10];

/** The level after recordings at this interval. */
function levelAfter(seconds: readonly number[], apart = DAY): Level {
  return seconds.reduce<Level | null>((level, value, i) => updateLevel(level, value, NOW + i * apart), null)!;
}

const after = (seconds: readonly number[], apart = DAY) => secondsOf(levelAfter(seconds, apart));

/** Builds within milliseconds, as in an import, every minute, every day, and every three months. */
const intervals = [0, 60_000, DAY, 90 * DAY];

describe('a level', () => {
  it('moves to a point between the level and the recording', () => {
    const seconds = fc.double({ min: 0.001, max: 3600, noNaN: true });
    fc.assert(
      fc.property(fc.array(seconds, { minLength: 1, maxLength: 20 }), seconds, (before, next) => {
        const level = levelAfter(before);
        const moved = secondsOf(updateLevel(level, next, level.at + DAY));
        const [low, high] = [secondsOf(level), next].sort((a, b) => a - b) as [number, number];
        expect(moved).toBeGreaterThanOrEqual(low * (1 - 1e-9));
        expect(moved).toBeLessThanOrEqual(high * (1 + 1e-9));
      }),
      { seed, numRuns: 150 },
    );
  });

  it('is finite and positive for any recordings at any times', () => {
    const seconds = fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true });
    const recordings = fc.array(fc.tuple(seconds, fc.integer({ min: -8.64e15, max: 8.64e15 })), { minLength: 1 });
    fc.assert(
      fc.property(recordings, values => {
        const level = values.reduce<Level | null>((before, [value, at]) => updateLevel(before, value, at), null)!;
        for (const number of Object.values(level)) expect(Number.isFinite(number)).toBe(true);
        expect(secondsOf(level)).toBeGreaterThan(0);
        expect(secondsOf(level)).toBeLessThan(Infinity);
      }),
      { seed, numRuns: 200 },
    );
  });

  it('keeps its size and follows changes after thousands of builds', () => {
    const level = levelAfter(Array.from({ length: 5000 }, (_, i) => 10 + (i % 7) / 10));
    expect(Object.keys(level)).toEqual(Object.keys(levelAfter([10, 11])));
    let next: Level = level;
    for (let i = 1; i <= 6; i++) next = updateLevel(next, 20, level.at + i * DAY);
    expect(secondsOf(next)).toBeGreaterThan(18);
  });

  it('treats an earlier recording as if it were made with the last one', () => {
    const level = levelAfter(settled);
    expect(updateLevel(level, 12, level.at - 90 * DAY)).toEqual(updateLevel(level, 12, level.at));
  });

  it('trusts a recording more the longer nothing was recorded', () => {
    const level = levelAfter(settled);
    const moved = [0, 1, 7, 14].map(days => secondsOf(updateLevel(level, 13, level.at + days * DAY)));
    expect(moved).toEqual(moved.toSorted((a, b) => a - b));
    expect(new Set(moved).size).toBe(moved.length);
    expect(moved.at(-1)! - moved[0]!).toBeGreaterThan(0.4);
  });
});

describe.each(intervals)('a level with recordings %d ms apart', apart => {
  it.each<[what: string, seconds: number[], low: number, high: number]>([
    ['hardly moves for one absurd recording', [...settled, 28_800], 0, 10.5],
    ['hardly moves for one absurdly short recording', [...settled, 0.0001], 9.5, Infinity],
    ['recovers with the recording after an absurd one', [...settled, 28_800, 10.1], 9.5, 10.5],
    ['hardly moves for an absurd second recording', [10, 28_800], 0, 15],
    ['leaves an absurd first recording behind after two usual ones', [28_800, 10, 10], 0, 11],
    ['does not count two absurd recordings to opposite sides as a repetition', [...settled, 28_800, 0.001], 9, Infinity],
    ['follows an absurd recording that repeats', [...settled, 28_800, 28_800], 0.9 * 28_800, Infinity],
    ['follows an absurdly short recording that repeats', [...settled, 0.01, 0.01], 0, 0.012],
    ['begins to follow a file that now takes twice as long', [...settled, 20], 12, Infinity],
    ['follows a file that now takes twice as long within three builds', [...settled, 20, 20, 20], 18, Infinity],
  ])('%s', (_, seconds, low, high) => {
    const level = after(seconds, apart);
    expect(level).toBeGreaterThan(low);
    expect(level).toBeLessThan(high);
  });
});
