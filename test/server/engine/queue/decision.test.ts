import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Batch, copyOf, decisionOf, type Pull } from '../../../../src/server/engine/queue/batch.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import { batchWeight } from '../../../../src/server/planning/batching/batch-weight.js';
import { RemainingFiles } from '../../../../src/server/planning/batching/remaining-files.js';
import { WEIGHTS_PER_SECOND } from '../../../../src/server/planning/weight.js';
import { NOW, requestOf } from './requests.js';

const request = (node_index: number, overrides: Partial<Pull> = {}) => requestOf({ node_index, run: `run of ${node_index}`, ...overrides });

/** A queue of files of 10 s each for nodes that lose 1 s between two batches. */
const queueOf = (files: number, nodeTotal: number, journal: readonly Batch[] = []) =>
  new Queue(new Float64Array(files).fill(10 * WEIGHTS_PER_SECOND), { nodeTotal, pullCost: WEIGHTS_PER_SECOND, isGuessed: false }, journal);

function pull(queue: Queue, node: number, seconds: number, overrides: Partial<Pull> = {}): Batch {
  const { batch } = queue.pull(request(node, overrides), NOW + seconds * 1000)!;
  queue.delivered(batch.seq);
  return batch;
}

const toWeight = (seconds: number) => seconds * WEIGHTS_PER_SECOND;

describe('the decision behind a batch', () => {
  it('tells what the planner knew and decided', () => {
    const batch = pull(queueOf(80, 8), 0, 0);
    const decision = { remaining: 800, finish_in: 101, speed: 1, slowdown: 1, share: 100, target: 60, pull_cost: 1, hidden: 0 };
    expect(decisionOf(batch)).toEqual(decision);
    expect(batch.files).toHaveLength(6);
  });

  it('tells that the node is slow, and that all files take longer than estimated', () => {
    const queue = queueOf(80, 2);
    pull(queue, 0, 0, { isFirstRequest: true });
    pull(queue, 1, 0, { isFirstRequest: true });
    pull(queue, 0, 300);
    const { speed, slowdown, hidden, share, target } = decisionOf(pull(queue, 1, 420))!;
    expect(speed).toBeLessThan(0.95);
    // All files have the same estimate, so nothing tells the time beside it from that of the tests.
    expect(10 * slowdown + hidden).toBeGreaterThan(12);
    expect(target / share).toBeCloseTo(0.6, 2);
  });

  it('stays as it was when the queue is read back, and in a copy of the queue', () => {
    const queue = queueOf(80, 8);
    const batches = [0, 1, 0].map((node, i) => pull(queue, node, 70 * i));
    const decisions = batches.map(decisionOf);
    expect(copyOf(batches).map(decisionOf)).toEqual(decisions);
    const restored = queueOf(80, 8, structuredClone(batches));
    expect(decisionOf(pull(restored, 2, 140))).toEqual(decisionOf(pull(queue, 2, 140)));
  });

  it('is not there when the files are those of the last split, and when none is left', () => {
    const queue = queueOf(4, 1);
    const first = pull(queue, 0, 0);
    const replay = pull(queue, 0, 60, { run: 'next', isFirstRequest: true, wantsLastSplit: true });
    expect([first.files, replay.files]).toEqual([replay.files, first.files]);
    expect(decisionOf(replay)).toBeNull();
    queue.pull(request(0, { run: 'another', isFirstRequest: true }), NOW + 120_000);
    expect(queue.takeChanged().map(({ files, decision }) => ({ files, decision }))).toEqual([{ files: [], decision: null }]);
  });

  it('is that of the next batch when a batch did not reach its node', () => {
    const queue = queueOf(80, 8);
    const lost = queue.pull(request(0), NOW)!.batch;
    queue.undelivered(lost.seq);
    expect(decisionOf(pull(queue, 1, 0))).toEqual(decisionOf(lost));
  });
});

describe('any decision', () => {
  const suites = fc.array(fc.integer({ min: 1, max: 3_000_000 }), { minLength: 1, maxLength: 120 });
  const pulls = fc.array(fc.record({ node: fc.nat(7), seconds: fc.nat(200), isLost: fc.boolean() }), { minLength: 1, maxLength: 60 });
  const parameters = fc.record({
    nodeTotal: fc.integer({ min: 1, max: 8 }),
    pullCost: fc.integer({ min: 0, max: 30_000 }),
    isGuessed: fc.boolean(),
  });

  it('gives the size of its batch again, within one file', () => {
    fc.assert(
      fc.property(suites, pulls, parameters, (files, asked, known) => {
        const weights = Float64Array.from(files).sort((a, b) => b - a);
        const queue = new Queue(weights, known);
        const remaining = new RemainingFiles(weights);
        const handed = new Array<number>(known.nodeTotal).fill(0);
        const came = new Set<number>();
        let now = NOW;
        for (const { node, seconds, isLost } of asked) {
          now += seconds * 1000;
          const pulled = queue.pull(request(node % known.nodeTotal), now);
          if (!pulled) break;
          const { batch } = pulled;
          came.add(batch.node_index);
          const { share, target, pull_cost: pullCost, slowdown, hidden, ...told } = decisionOf(batch)!;
          // Ratios are kept in thousandths, durations in milliseconds.
          const left = slowdown * (remaining.weight / WEIGHTS_PER_SECOND) + hidden * remaining.count;
          expect(Math.abs(told.remaining - left)).toBeLessThan(0.001 * (remaining.weight / WEIGHTS_PER_SECOND + remaining.count) + 0.01);
          expect(Math.abs(told.speed * (told.finish_in - pullCost) - share)).toBeLessThan(0.01 * share + 0.01);
          const situation = {
            share: toWeight(share),
            batches: handed[batch.node_index]!,
            files: remaining.count,
            remaining: toWeight(told.remaining),
          };
          const sizes = [-2, 2].flatMap(off => {
            const told = { ...situation, pullCost: Math.max(0, toWeight(pullCost) + 10 * off) };
            return [true, false, null].map(hasMeasured => batchWeight({ ...told, hasMeasured }, known));
          });
          // Nodes that have yet to come get their part.
          const least = came.size < known.nodeTotal ? 0 : Math.min(...sizes);
          expect(target).toBeGreaterThan(least / WEIGHTS_PER_SECOND - 0.01);
          expect(target).toBeLessThan(Math.max(...sizes) / WEIGHTS_PER_SECOND + 0.01);
          const again = remaining.take(toWeight(target) / slowdown, toWeight(hidden) / slowdown);
          const weightOf = (taken: number[]) => taken.reduce((sum, file) => sum + weights[file]!, 0);
          expect(Math.abs(weightOf(again) - weightOf(batch.files))).toBeLessThanOrEqual(weights[0]!);
          remaining.putBack(again);
          remaining.reclaim(batch.files);
          if (isLost) {
            queue.undelivered(batch.seq);
            remaining.putBack(batch.files);
          } else {
            queue.delivered(batch.seq);
            handed[batch.node_index]! += 1;
          }
        }
      }),
      { seed: 1, numRuns: 50 },
    );
  });
});
