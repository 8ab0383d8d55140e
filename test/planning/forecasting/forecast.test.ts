import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../bench/random.js';
import { type Expectation, forecast } from '../../../src/planning/forecasting/forecast.js';
import { pack } from '../../../src/planning/packing/pack.js';
import { toWeight } from '../../../src/planning/weight.js';

/** Files of so many seconds, slowest first. */
const files = (seconds: number[], unknown: number[] = []) => ({
  paths: seconds.map((_, i) => `${i}_spec.rb`),
  seconds: Float64Array.from(seconds, (time, i) => (unknown.includes(i) ? NaN : time)),
  weights: Float64Array.from(seconds, toWeight),
});

const of = (seconds: number[], nodes: number, more: Partial<Expectation> = {}, unknown: number[] = []) =>
  forecast(files(seconds, unknown), nodes, { makespan: 1, lowerBound: 1, isBoundByFile: false, ...more });

describe('a forecast', () => {
  it('is in seconds, with the proved gap', () => {
    const { makespan, lower_bound, ratio } = of([30, 20, 20], 2, { makespan: toWeight(40), lowerBound: toWeight(35) });
    expect([makespan, lower_bound]).toEqual([40, 35]);
    expect(ratio).toBeCloseTo(40 / 35, 10);
  });

  it('counts the files that were never measured', () => {
    expect(of([3, 2, 1], 2, {}, [0, 2]).unknown_files).toBe(2);
  });

  it('names the files that take longer than a node’s fair share', () => {
    const { binding_files } = of([100, 50, 10, 10, 10], 4);
    expect(binding_files).toEqual([
      { path: '0_spec.rb', seconds: 100 },
      { path: '1_spec.rb', seconds: 50 },
    ]);
    expect(of([10, 10, 10, 10], 4).binding_files).toEqual([]);
  });

  it('names no more than ten of them', () => {
    const seconds = [...Array<number>(40).fill(10), ...Array<number>(400).fill(0.1)];
    expect(of(seconds, 200).binding_files.length).toBe(10);
  });

  it('tells the nodes beyond which the longest file decides', () => {
    const useful = (seconds: number[]) => of(seconds, 8).useful_nodes;
    expect(useful([100, 50, 50, 30])).toBe(3);
    expect(useful([100, 50, 50])).toBe(2);
    expect(useful([10, 10, 10])).toBe(3);
    expect(useful([10])).toBe(1);
    // Three nodes have the room, but not for whole files.
    expect(useful([10, 6, 6, 6])).toBe(4);
  });

  it('has as many useful nodes as make any difference to a split', () => {
    const random = seededRandom(11);
    for (let suite = 0; suite < 50; suite++) {
      const seconds = Array.from({ length: 12 }, () => 10 + 10 * random()).sort((a, b) => b - a);
      const { useful_nodes } = of(seconds, 8);
      const makespan = (nodes: number) => pack(Float64Array.from(seconds, toWeight), nodes).makespan;
      expect(makespan(useful_nodes)).toBe(toWeight(seconds[0]!));
      if (useful_nodes > 1) expect(useful_nodes).toBeLessThanOrEqual(seconds.length);
    }
  });

  it('of nothing has no gap', () => {
    expect(of([], 3, { makespan: 0, lowerBound: 0 })).toEqual({
      makespan: 0,
      lower_bound: 0,
      ratio: 1,
      bound_by_file: false,
      unknown_files: 0,
      binding_files: [],
      useful_nodes: 1,
    });
  });
});
