import { describe, expect, it } from 'vitest';
import { chooseFirst, mayHaveFirst, wouldDelay } from '../../../../src/server/planning/batching/first-files.js';
import { toWeight } from '../../../../src/server/planning/weight.js';

const seconds = (...times: number[]) => Float64Array.from(times, toWeight);
/** 1,000 files of 1 s, slowest first. */
const MANY = seconds(...Array.from({ length: 1000 }, () => 1));
const all = (durations: Float64Array) => Array.from(durations.keys());
const choose = (durations: Float64Array, failed: readonly number[], unmeasured: readonly number[] = [], pullCost = toWeight(2)) =>
  chooseFirst({ failed, unmeasured }, { durations, nodeTotal: 4, pullCost });

describe('the files that go first', () => {
  it('are those that failed, the shortest first, and then those that were never measured', () => {
    expect(choose(MANY, [3, 900, 500], [7, 8])).toEqual({ failed: [900, 500, 3], unmeasured: [8, 7] });
  });

  it('take 2 % of the work with the pulls of their batches, one of which has files for two pulls', () => {
    // Three batches of four files, and one more file: 6 s, 6 s, 6 s and 3 s, of which the first file costs nothing if it failed.
    expect(choose(MANY, all(MANY)).failed).toHaveLength(13);
    expect(choose(MANY, [], all(MANY)).unmeasured).toHaveLength(12);
    expect(choose(MANY, all(MANY).slice(0, 10), all(MANY).slice(10))).toMatchObject({ failed: { length: 10 }, unmeasured: { length: 3 } });
  });

  it('are 21 at most', () => {
    const short = seconds(...Array.from({ length: 900 }, () => 60), ...Array.from({ length: 100 }, () => 0.1));
    expect(choose(short, all(short)).failed).toHaveLength(21);
  });

  it('are one file that failed, however long it takes, if its pull is worth it', () => {
    const few = seconds(60, 60, 60, 60);
    expect(choose(few, [0, 2])).toEqual({ failed: [2], unmeasured: [] });
    expect(choose(few, [], [2])).toEqual({ failed: [], unmeasured: [] });
    expect(choose(few, [2], [], toWeight(5))).toEqual({ failed: [], unmeasured: [] });
  });

  it('are none where a node has less than a minute of work', () => {
    expect(mayHaveFirst({ durations: MANY, nodeTotal: 16 })).toBe(true);
    expect(mayHaveFirst({ durations: MANY, nodeTotal: 17 })).toBe(false);
  });

  it('wait while the slowest other file has no time to wait', () => {
    const situation = { pullCost: 2, finishIn: 100, hidden: 1, slowdown: 2 };
    expect(wouldDelay(46, situation)).toBe(false);
    expect(wouldDelay(47, situation)).toBe(true);
    expect(wouldDelay(null, { ...situation, finishIn: 1 })).toBe(false);
  });
});
