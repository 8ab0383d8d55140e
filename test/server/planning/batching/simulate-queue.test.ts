import { describe, expect, it } from 'vitest';
import { simulateQueue } from '../../../../src/server/planning/batching/simulate-queue.js';
import { ballast } from '../../../testbed/ballast-queue.js';

describe('a simulated queue', () => {
  const simulate = (weights: readonly number[], nodeTotal: number, pullCost: number, isGuessed = false) =>
    simulateQueue(Float64Array.from(weights), { nodeTotal, pullCost, isGuessed });
  const makespan = (...args: Parameters<typeof simulate>) => simulate(...args).makespan;

  it('takes the share of each node and its pulls', () => {
    expect(makespan(Array<number>(80).fill(1000), 8, 0)).toBe(10_000);
    // 60 %, 60 % of the rest, and the last 16 %: three pulls, unless the rest is worth less than three pulls.
    expect(makespan(Array<number>(80).fill(1000), 8, 500)).toBe(11_500);
    expect(makespan(Array<number>(80).fill(1000), 8, 600)).toBe(11_200);
  });

  it('takes at least the longest file and its pull', () => {
    expect(makespan([50_000, 10, 10], 3, 600)).toBe(50_600);
  });

  it('has no more pulls than files', () => {
    expect(makespan([1000, 1000], 2, 1)).toBe(1001);
    expect(makespan([], 2, 1)).toBe(0);
  });

  it.each([
    [1000, 10],
    [500, 8],
    [2000, 8],
  ])('takes about as long as a played one, for %d guessed files of a second on %d nodes', (count, nodes) => {
    const files = Array.from({ length: count }, () => ({ predicted: 1, actual: 1, isUnknown: true }));
    const dispense = ballast(files, { nodes, pullCost: 2 });
    // All nodes start at once and are equally fast.
    const times = Array<number>(nodes).fill(0);
    const done = new Set<number>();
    while (done.size < nodes) {
      const node = times.reduce((first, time, i) => (!done.has(i) && (done.has(first) || time < times[first]!) ? i : first), 0);
      const batch = dispense(node, times[node]! * 1000);
      if (batch.length === 0) done.add(node);
      else times[node]! += 2 + batch.length;
    }
    const expected = makespan(Array<number>(count).fill(10_000), nodes, 20_000, true) / 10_000;
    expect(Math.max(...times) / expected).toBeGreaterThan(0.8);
    expect(Math.max(...times) / expected).toBeLessThan(1.2);
  });

  it('is bound by a file that the other nodes wait for', () => {
    expect(simulate([50_000, 10, 10], 3, 600).isBoundByFile).toBe(true);
    expect(simulate([1000, 1000, 1000], 3, 600).isBoundByFile).toBe(false);
    expect(simulate(Array<number>(80).fill(1000), 8, 600).isBoundByFile).toBe(false);
  });
});
