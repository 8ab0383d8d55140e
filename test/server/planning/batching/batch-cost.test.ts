import { describe, expect, it } from 'vitest';
import { type BatchSums, CostEstimate, expectedCost, keep, observedIn } from '../../../../src/server/planning/batching/batch-cost.js';
import { normal, seededRandom } from '../../../testbed/random.js';

const SECOND = 10_000;

interface Truth {
  pullCost: number;
  hidden: number;
  slowdown: number;
}

/** Costs that are learned, in seconds, from batches that a suite with these costs takes. Later batches have more and shorter files. */
function learn({ pullCost, hidden, slowdown }: Truth, batches: number, learned: BatchSums | null = null): CostEstimate {
  const random = seededRandom(7);
  const estimate = new CostEstimate({ setting: 2 * SECOND, meanWeight: 5 * SECOND, isGuessed: false, learned });
  for (let batch = 0; batch < batches; batch++) {
    const files = 1 + Math.floor(30 * random());
    const seconds = 1 + 60 * random();
    const took = pullCost + (hidden * files + slowdown * seconds) * Math.exp(0.15 * normal(random));
    estimate.observe(files, seconds * SECOND, took * SECOND);
  }
  return estimate;
}

const secondsOf = ({ cost: { pullCost, hidden, slowdown } }: CostEstimate): Truth => ({
  pullCost: pullCost / SECOND,
  hidden: hidden / SECOND,
  slowdown,
});

describe('the cost of a batch', () => {
  it('is the setting and the estimates before the first batch', () => {
    const { pullCost, hidden, slowdown } = secondsOf(learn({ pullCost: 9, hidden: 9, slowdown: 9 }, 0));
    expect([pullCost, hidden]).toEqual([expect.closeTo(2), 0]);
    expect(slowdown).toBeCloseTo(1);
  });

  it.each([
    { pullCost: 2, hidden: 0, slowdown: 1 },
    { pullCost: 0.2, hidden: 1.5, slowdown: 1 },
    { pullCost: 9, hidden: 0, slowdown: 1.2 },
    { pullCost: 5, hidden: 3, slowdown: 0.9 },
  ])('is found from 60 batches of $pullCost s, $hidden s a file and $slowdown times the estimates', truth => {
    const found = secondsOf(learn(truth, 60));
    expect(Math.abs(found.pullCost - truth.pullCost)).toBeLessThan(3);
    expect(Math.abs(found.hidden - truth.hidden)).toBeLessThan(0.6);
    expect(Math.abs(found.slowdown - truth.slowdown)).toBeLessThan(0.2);
  });

  it('is found from two batches of files that were never measured, and is not kept for the project', () => {
    const estimate = new CostEstimate({ setting: 2 * SECOND, meanWeight: SECOND, isGuessed: true, learned: null });
    for (const files of [8, 24]) {
      const elapsed = (9 + 0.05 * files) * SECOND;
      estimate.limitPull(elapsed);
      estimate.observe(files, files * SECOND, elapsed);
    }
    const { pullCost, hidden, slowdown } = secondsOf(estimate);
    expect(pullCost).toBeGreaterThan(4);
    expect(pullCost + 16 * slowdown).toBeCloseTo(9.8, 0);
    expect([hidden, estimate.takeObserved()]).toEqual([0, null]);
  });

  it('has no hidden time in a split where the start of its nodes explains it', () => {
    let learned: BatchSums | null = null;
    const batch = { files: 20, weight: 100 * SECOND, elapsed: 112 * SECOND };
    for (let node = 0; node < 8; node++) learned = keep(learned, observedIn([batch], { setting: null, learned })!);
    expect(expectedCost({ setting: null, meanWeight: 5 * SECOND, isGuessed: false, learned }).hidden).toBe(0);
  });

  it.each([
    ['nothing happens', () => 0],
    ['one batch hangs for an hour', (batch: number) => (batch === 0 ? 3600 : 0)],
    ['all first batches wait for five minutes', (batch: number) => (batch % 6 === 0 ? 300 : 0)],
  ])('has no hidden time by recorded batches without any when %s', (_, more) => {
    const random = seededRandom(5);
    const batches = Array.from({ length: 48 }, (_, batch) => {
      const files = 4 + 2 * (batch % 6);
      const seconds = files * (10 - 1.7 * (batch % 6)) * Math.exp(0.1 * normal(random));
      return { files, weight: seconds * SECOND, elapsed: (2 + seconds * Math.exp(0.1 * normal(random)) + more(batch)) * SECOND };
    });
    const learned = observedIn(batches, { setting: 2 * SECOND, learned: null });
    const cost = expectedCost({ setting: 2 * SECOND, meanWeight: 5 * SECOND, isGuessed: false, learned });
    expect(cost.hidden / SECOND).toBeLessThan(0.2);
  });

  it('is hardly changed by one batch that hung', () => {
    const estimate = learn({ pullCost: 2, hidden: 1, slowdown: 1 }, 20);
    const before = secondsOf(estimate);
    estimate.observe(5, 5 * SECOND, 3600 * SECOND);
    const after = secondsOf(estimate);
    expect(after.pullCost - before.pullCost).toBeLessThan(2);
    expect(after.hidden - before.hidden).toBeLessThan(0.3);
  });

  it('has no part below 0 for any batches', () => {
    for (const elapsed of [0, 1, 1e9]) {
      const estimate = learn({ pullCost: 2, hidden: 1, slowdown: 1 }, 3);
      for (let batch = 1; batch < 20; batch++) estimate.observe(batch, batch * SECOND, elapsed);
      const { pullCost, hidden, slowdown } = estimate.cost;
      expect(Math.min(pullCost, hidden)).toBeGreaterThanOrEqual(0);
      expect(slowdown).toBeGreaterThan(0);
    }
  });
});

describe('what earlier queues observed', () => {
  const truth = { pullCost: 12, hidden: 2, slowdown: 1 };
  const kept = keep(null, learn(truth, 40).takeObserved()!);

  it('is where the next queue begins', () => {
    const { pullCost, hidden, slowdown } = secondsOf(learn(truth, 0, kept));
    expect(Math.abs(pullCost + 10 * hidden + 30 * slowdown - 62)).toBeLessThan(5);
  });

  it('gives way when the suite changes', () => {
    const changed = { pullCost: 2, hidden: 0, slowdown: 1 };
    let sums: BatchSums = kept;
    for (let build = 0; build < 8; build++) sums = keep(sums, learn(changed, 40, sums).takeObserved()!);
    const { pullCost, hidden } = secondsOf(learn(changed, 0, sums));
    expect(pullCost).toBeLessThan(3.5);
    expect(hidden).toBeLessThan(0.2);
  });

  it('is told once', () => {
    const estimate = learn(truth, 40);
    estimate.takeObserved();
    expect(estimate.takeObserved()).toBeNull();
    estimate.observe(1, SECOND, 15 * SECOND);
    expect(estimate.takeObserved()!.at(-1)).toBe(1);
  });

  it('is nothing when no batch has ended', () => {
    expect(learn(truth, 0).takeObserved()).toBeNull();
  });
});
