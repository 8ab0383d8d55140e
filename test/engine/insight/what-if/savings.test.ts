import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { baselinesOf } from '../../../../src/engine/insight/what-if/savings.js';
import { type Batch, timelineOf } from '../lanes.js';

describe('the baselines of a build', () => {
  it('play its recorded times on nodes that start as they did', () => {
    const timeline = timelineOf([
      [
        { files: ['d', 'b'], seconds: [4, 2], from: 0, to: 7 },
        { files: ['e'], seconds: [1], from: 7, to: 9 },
      ],
      [{ files: ['a', 'c'], seconds: [5, 3], from: 2, to: 11 }],
    ]);
    expect(baselinesOf(timeline)).toEqual({
      // Node 0: a, c, e in 9 s and a batch of 1 s. Node 1, from second 2: b, d in 6 s.
      round_robin: 10,
      // Node 0: a, b, c in 10 s. Node 1, from second 2: d, e in 5 s.
      by_name: 11,
      // Node 0: a until 6, d until 11. Node 1: b until 5, c until 9, e until 11.
      one_at_a_time: 11,
    });
  });

  it('leave out files that were not recorded, and nodes that never came', () => {
    const timeline = timelineOf([[{ files: ['a', 'b'], seconds: [3, null], from: 0, to: 3 }], null]);
    expect(baselinesOf(timeline)).toEqual({ round_robin: 3, by_name: 3, one_at_a_time: 3 });
    expect(baselinesOf(timelineOf([null, null]))).toEqual({ round_robin: 0, by_name: 0, one_at_a_time: 0 });
  });

  it('divide the recorded times of nodes that run files side by side', () => {
    const side = (files: string[], from: number): Batch => ({ files, seconds: files.map(() => 4), from, to: from + files.length * 2 });
    const timeline = timelineOf([
      [side(['a', 'b', 'c'], 0), side(['d'], 6)],
      [side(['e', 'f', 'g'], 0), side(['h'], 6)],
    ]);
    expect(baselinesOf(timeline)).toEqual({ round_robin: 8, by_name: 8, one_at_a_time: 8 });
  });

  it('are never shorter than the longest file and the even share', () => {
    const batch = fc.array(fc.double({ min: 0.1, max: 100, noNaN: true }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 6 }), nodes => {
        const sum = (seconds: readonly number[]) => seconds.reduce((total, each) => total + each, 0);
        const timeline = timelineOf(
          nodes.map((seconds, node) => [{ files: seconds.map((_, i) => `${node}-${i}`), seconds, from: 0, to: sum(seconds) + 1 }]),
        );
        const times = nodes.flat();
        const floor = Math.max(...times, sum(times) / nodes.length);
        for (const wall of Object.values(baselinesOf(timeline))) expect(wall).toBeGreaterThanOrEqual(floor - 0.001);
      }),
    );
  });
});
