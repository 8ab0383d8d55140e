import { describe, expect, it } from 'vitest';
import { type Batch, decisionOf, type Pull } from '../../../../src/server/engine/queue/batch.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import { WEIGHTS_PER_SECOND } from '../../../../src/server/planning/weight.js';
import { NOW, requestOf } from './requests.js';

const request = (node_index: number, overrides: Partial<Pull> = {}) => requestOf({ node_index, run: `run of ${node_index}`, ...overrides });

/** Files of 40 s, 20 s, and 78 of 5 s, for 4 nodes that lose 2 s between two batches. */
const WEIGHTS = Float64Array.from([40, 20, ...Array.from({ length: 78 }, () => 5)], seconds => seconds * WEIGHTS_PER_SECOND);

const queueOf = (first: readonly number[], journal: readonly Batch[] = [], weights = WEIGHTS) =>
  new Queue(weights, { nodeTotal: 4, pullCost: 2 * WEIGHTS_PER_SECOND, isGuessed: false, first }, journal);

function pull(queue: Queue, node: number, seconds: number, overrides: Partial<Pull> = {}): Batch {
  const { batch } = queue.pull(request(node, overrides), NOW + seconds * 1000)!;
  queue.delivered(batch.seq);
  return batch;
}

describe('the files of a queue that go first', () => {
  it('are batches of their own, worth about two pulls, spread over the nodes', () => {
    const queue = queueOf([70, 60, 1]);
    const batches = [0, 1, 2, 3].map(node => pull(queue, node, 0));
    expect(batches.slice(0, 3).map(({ files }) => files)).toEqual([[70], [60], [1]]);
    expect(batches[3]!.files.slice(0, 2)).toEqual([0, 2]);
    expect(decisionOf(batches[0]!)).toMatchObject({ remaining: 450, target: 4 });
  });

  it('share a batch if they are short', () => {
    const weights = WEIGHTS.map((weight, file) => (file < 75 ? weight : weight / 5));
    const queue = queueOf([79, 78, 77, 76, 75], [], weights);
    expect([0, 1].map(node => pull(queue, node, 0).files)).toEqual([[79, 78, 77, 76], [75]]);
  });

  it('are handed out once, with all others, in the same order when the queue is read back after each batch', () => {
    const first = [70, 1, 60];
    const kept = queueOf(first);
    const journal: Batch[] = [];
    const readBack: number[][] = [];
    for (let i = 0; ; i++) {
      const node = i % 4;
      const again = queueOf(first, structuredClone(journal)).pull(request(node), NOW + i * 10_000);
      const handed = kept.pull(request(node), NOW + i * 10_000);
      if (!handed) break;
      kept.delivered(handed.batch.seq);
      journal.push(handed.batch);
      readBack.push(again!.batch.files);
    }
    expect(readBack).toEqual(journal.map(({ files }) => files));
    expect(readBack.slice(0, 3)).toEqual([[70], [1], [60]]);
    expect(readBack.flat().sort((a, b) => a - b)).toEqual(Array.from(WEIGHTS.keys()));
  });

  it('come first again when they were taken back', () => {
    const queue = queueOf([70, 60]);
    const { batch } = queue.pull(request(0), NOW)!;
    expect(queue.undelivered(batch.seq)).toBe(true);
    expect([1, 2].map(node => pull(queue, node, 1).files)).toEqual([[70], [60]]);
  });

  it('wait for the slowest file if the build would end later without that', () => {
    const weights = WEIGHTS.map((weight, file) => (file === 0 ? 200 * WEIGHTS_PER_SECOND : weight));
    const queue = queueOf([70, 60], [], weights);
    expect([0, 1, 2].map(node => pull(queue, node, 0).files)).toEqual([[0], [70], [60]]);
  });

  it('are not counted among the batches of a node, and tell nothing of what batches cost', () => {
    const queue = queueOf([70, 60]);
    const others = queueOf([]);
    for (const node of [0, 1]) pull(queue, node, 0, { isFirstRequest: true });
    expect(decisionOf(pull(queue, 0, 60))).toMatchObject({ speed: 1, slowdown: 1, pull_cost: 2 });
    expect(queue.takeObserved()).toBeNull();
    for (const node of [0, 1]) pull(others, node, 60, { isFirstRequest: true });
    expect(decisionOf(pull(queue, 2, 61))!.speed).toBe(decisionOf(pull(others, 2, 61))!.speed);
    // A short one that hangs tells nothing of its node either.
    expect(decisionOf(pull(queue, 1, 90))).toMatchObject({ speed: 1 });
  });
});
