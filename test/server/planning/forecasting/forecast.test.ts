import { describe, expect, it } from 'vitest';
import { type ExpectedOutcome, forecast } from '../../../../src/server/planning/forecasting/forecast.js';
import { pack } from '../../../../src/server/planning/packing/pack.js';
import { toWeight } from '../../../../src/server/planning/weight.js';
import { plannedPaths } from '../../../harness/planned-paths.js';
import { seededRandom } from '../../../testbed/random.js';

/** Files with these durations, slowest first. */
const files = (seconds: number[]) => ({
  ...plannedPaths(seconds.map((_, i) => `${i}_spec.rb`)),
  seconds: Float64Array.from(seconds),
  weights: Float64Array.from(seconds, toWeight),
});

const forecastOf = (seconds: number[], nodes: number, more: Partial<ExpectedOutcome> = {}) =>
  forecast(files(seconds), nodes, { makespan: 1, lowerBound: 1, isBoundByFile: false, ...more });

describe('a forecast', () => {
  it('is in seconds, with the ratio to the lower bound', () => {
    const { makespan, lower_bound, ratio } = forecastOf([30, 20, 20], 2, { makespan: toWeight(40), lowerBound: toWeight(35) });
    expect([makespan, lower_bound]).toEqual([40, 35]);
    expect(ratio).toBeCloseTo(40 / 35, 10);
  });

  it('names the files that take longer than a node’s fair share', () => {
    const { binding_files } = forecastOf([100, 50, 10, 10, 10], 4);
    expect(binding_files).toEqual([
      { path: '0_spec.rb', seconds: 100 },
      { path: '1_spec.rb', seconds: 50 },
    ]);
    expect(forecastOf([10, 10, 10, 10], 4).binding_files).toEqual([]);
  });

  it('names no more than ten of them', () => {
    const seconds = [...Array<number>(40).fill(10), ...Array<number>(400).fill(0.1)];
    expect(forecastOf(seconds, 200).binding_files.length).toBe(10);
  });

  it('has the number of nodes beyond which the longest file decides', () => {
    const useful = (seconds: number[]) => forecastOf(seconds, 8).useful_nodes;
    expect(useful([100, 50, 50, 30])).toBe(3);
    expect(useful([100, 50, 50])).toBe(2);
    expect(useful([10, 10, 10])).toBe(3);
    expect(useful([10])).toBe(1);
    // Three nodes would be enough if files could be divided.
    expect(useful([10, 6, 6, 6])).toBe(4);
  });

  it('has enough useful nodes for a split as short as the longest file', () => {
    const random = seededRandom(11);
    for (let suite = 0; suite < 50; suite++) {
      const seconds = Array.from({ length: 12 }, () => 10 + 10 * random()).sort((a, b) => b - a);
      const { useful_nodes } = forecastOf(seconds, 8);
      const makespan = (nodes: number) => pack(Float64Array.from(seconds, toWeight), nodes).makespan;
      expect(makespan(useful_nodes)).toBe(toWeight(seconds[0]!));
      if (useful_nodes > 1) expect(useful_nodes).toBeLessThanOrEqual(seconds.length);
    }
  });
});
