import { expect, it } from 'vitest';
import { recordedCost } from '../../../../src/server/insight/timeline/recorded-batches.js';
import { type Batch, timelineOf } from '../lanes.js';

const SETTING = { pull_cost: 2, hidden: 0, slowdown: 1 };

/** A node whose batches of these numbers of files take 3 s, and 0.5 s and what it records of each file. */
function lane(node: number, counts: readonly number[]): Batch[] {
  let from = 0;
  return counts.map((count, batch) => {
    const files = Array.from({ length: count }, (_, i) => `${node}/${batch}/${i}.js`);
    const seconds = files.map((_, i) => 0.02 * (1 + ((node + i) % 5)));
    const to = from + 3 + seconds.reduce((sum, each) => sum + each + 0.5, 0);
    return { files, seconds, from, to: (from = to) };
  });
}

it('the batches of a build tell what a pull and a file cost, once their files are recorded', () => {
  const timeline = timelineOf([lane(0, [40, 20, 5]), lane(1, [30, 25, 10]), lane(2, [60, 2])]);
  const { pull_cost, hidden, slowdown } = recordedCost({ ...timeline, expectedCost: SETTING })!;
  expect(Math.abs(pull_cost + 50 * (hidden + 0.06 * slowdown) - 31)).toBeLessThan(4);
  expect(Math.abs(hidden - 0.5)).toBeLessThan(0.15);
});

it('batches without recordings, those that failed and those of a split tell nothing', () => {
  const batches = [lane(0, [4, 2]), lane(1, [3, 3])];
  const withTimes = (time: number | null) =>
    batches.map(lanes => lanes.map(batch => ({ ...batch, seconds: batch.seconds.map(() => time) })));
  for (const time of [null, 0]) expect(recordedCost({ ...timelineOf(withTimes(time)), expectedCost: SETTING })).toBeNull();
  expect(recordedCost({ ...timelineOf(batches), kind: 'split', expectedCost: SETTING })).toBeNull();
});
