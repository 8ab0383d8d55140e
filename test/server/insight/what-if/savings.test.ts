import { describe, expect, it } from 'vitest';
import { baselinesOf } from '../../../../src/server/insight/what-if/savings.js';
import { type Batch, timelineOf } from '../lanes.js';

describe('the baselines of a build', () => {
  it('leave out files that were not recorded, and nodes that never came', () => {
    const timeline = timelineOf([[{ files: ['a', 'b'], seconds: [3, null], from: 0, to: 3 }], null]);
    expect(baselinesOf(timeline)).toEqual({ round_robin: 3, by_name: 3, one_at_a_time: 3 });
    expect(baselinesOf(timelineOf([null, null]))).toEqual({ round_robin: 0, by_name: 0, one_at_a_time: 0 });
  });

  it('have whole files where the build had pieces', () => {
    const pieces = ['a::piece 1 of 2', 'a::piece 2 of 2'];
    const timeline = timelineOf([
      [{ files: [pieces[0]!, 'b'], seconds: [3, 1], from: 0, to: 4 }],
      [{ files: [pieces[1]!], seconds: [4], from: 0, to: 4 }],
    ]);
    expect(baselinesOf(timeline)).toEqual({ round_robin: 7, by_name: 7, one_at_a_time: 7 });
  });

  it('divide the recorded times of nodes that run files side by side', () => {
    const side = (files: string[], from: number): Batch => ({ files, seconds: files.map(() => 4), from, to: from + files.length * 2 });
    const timeline = timelineOf([
      [side(['a', 'b', 'c'], 0), side(['d'], 6)],
      [side(['e', 'f', 'g'], 0), side(['h'], 6)],
    ]);
    expect(baselinesOf(timeline)).toEqual({ round_robin: 8, by_name: 8, one_at_a_time: 8 });
  });
});
