import { describe, expect, it } from 'vitest';
import { forecast } from '../../src/plan/forecast.js';
import { toWeight } from '../../src/plan/weight.js';

/** Files of so many seconds, slowest first. */
const files = (seconds: number[], unknown: number[] = []) =>
  seconds.map((time, i) => ({
    path: `${i}_spec.rb`,
    weight: toWeight(time),
    time_execution: unknown.includes(i) ? null : time,
  }));

describe('a forecast', () => {
  it('is in seconds, with the proved gap', () => {
    const { makespan, lower_bound, ratio } = forecast(files([30, 20, 20]), 2, toWeight(40), toWeight(35));
    expect([makespan, lower_bound]).toEqual([40, 35]);
    expect(ratio).toBeCloseTo(40 / 35, 10);
  });

  it('counts the files that were never measured', () => {
    expect(forecast(files([3, 2, 1], [0, 2]), 2, 1, 1).unknown_files).toBe(2);
  });

  it('names the files that take longer than a node’s fair share', () => {
    const { binding_files } = forecast(files([100, 50, 10, 10, 10]), 4, toWeight(100), toWeight(100));
    expect(binding_files).toEqual([
      { path: '0_spec.rb', seconds: 100 },
      { path: '1_spec.rb', seconds: 50 },
    ]);
    expect(forecast(files([10, 10, 10, 10]), 4, toWeight(10), toWeight(10)).binding_files).toEqual([]);
  });

  it('names no more than ten of them', () => {
    const given = files([...Array(40).fill(10), ...Array(400).fill(0.1)]);
    expect(forecast(given, 200, toWeight(10), toWeight(10)).binding_files.length).toBe(10);
  });

  it('tells the nodes beyond which the longest file decides', () => {
    const useful = (seconds: number[]) => forecast(files(seconds), 8, 1, 1).useful_nodes;
    expect(useful([100, 50, 50, 30])).toBe(3);
    expect(useful([100, 50, 50])).toBe(2);
    expect(useful([10, 10, 10])).toBe(3);
    expect(useful([10])).toBe(1);
  });

  it('of nothing has no gap', () => {
    expect(forecast([], 3, 0, 0)).toEqual({
      makespan: 0,
      lower_bound: 0,
      ratio: 1,
      unknown_files: 0,
      binding_files: [],
      useful_nodes: 1,
    });
  });
});
