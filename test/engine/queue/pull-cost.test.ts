import { describe, expect, it } from 'vitest';
import { normal, seededRandom } from '../../../bench/random.js';
import { PullCost } from '../../../src/engine/queue/pull-cost.js';

const SECOND = 10_000;

/** Returns the estimate after batches of a simulated queue, in seconds. */
function estimated(setting: number, actual: number, batches: number, error = 0.15): number {
  const random = seededRandom(7);
  const cost = new PullCost(setting * SECOND);
  for (let batch = 0; batch < batches; batch++) {
    const weight = (1 + 30 * random()) * SECOND;
    cost.observe(weight, weight * Math.exp(error * normal(random)) + actual * SECOND);
  }
  return cost.value / SECOND;
}

describe('the cost of a pull', () => {
  it('is the setting before the first batch', () => {
    expect(new PullCost(2 * SECOND).value).toBeCloseTo(2 * SECOND);
    expect(new PullCost(0).value).toBe(0);
  });

  it.each([
    [2, 5],
    [2, 0.2],
    [1, 3],
  ])('is set to %d s and found to be %d s', (setting, actual) => {
    expect(Math.abs(estimated(setting, actual, 60) - actual)).toBeLessThan(0.8);
  });

  it('is closer to the truth than the setting after some batches', () => {
    expect(Math.abs(estimated(2, 6, 10) - 6)).toBeLessThan(2);
  });

  it('is not estimated from few long batches', () => {
    const cost = new PullCost(2 * SECOND);
    cost.observe(1000 * SECOND, 1300 * SECOND);
    cost.observe(1200 * SECOND, 1000 * SECOND);
    expect(cost.value / SECOND).toBeGreaterThan(1.5);
    expect(cost.value / SECOND).toBeLessThan(2.5);
  });

  it('is hardly changed by one batch that hung', () => {
    const cost = new PullCost(2 * SECOND);
    for (let batch = 0; batch < 10; batch++) cost.observe(10 * SECOND, 12 * SECOND);
    const before = cost.value;
    cost.observe(SECOND, 600 * SECOND);
    expect(cost.value - before).toBeLessThan(2 * SECOND);
  });

  it('stays within its limits for any batches', () => {
    const cost = new PullCost(2 * SECOND);
    for (let batch = 1; batch < 50; batch++) cost.observe(SECOND, 100_000 * SECOND);
    expect(cost.value).toBeLessThanOrEqual(20 * SECOND);
    const idle = new PullCost(2 * SECOND);
    for (let batch = 1; batch < 50; batch++) idle.observe(batch * SECOND, 0.5 * batch * SECOND);
    expect(idle.value).toBeGreaterThanOrEqual(0);
  });
});
