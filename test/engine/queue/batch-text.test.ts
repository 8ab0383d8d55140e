import { describe, expect, it } from 'vitest';
import type { Batch, Pull } from '../../../src/engine/queue/batch.js';
import { Queue } from '../../../src/engine/queue/queue.js';
import { limits } from '../../../src/limits.js';

const NOW = Date.UTC(2026, 0, 1);
/** Of one file a batch. */
const queueOf = (files: number, journal: Iterable<Batch> = []) =>
  new Queue(new Float64Array(files).fill(10), { nodeTotal: files, pullCost: 0, isGuessed: false }, journal);
const request: Pull = {
  node_index: 0,
  run: 'run-1',
  batch_uuid: null,
  isRetry: false,
  starts: false,
  wantsLastSplit: false,
  acknowledges: true,
  recordedSubset: null,
  hasLeft: () => false,
};

/** Half of what a queue keeps of test cases that failed. */
const half = (file: number): [number, string[]][] => [[file, ['c'.repeat(limits.failedCaseCharactersPerQueue / 2)]]];

function failing(queue: Queue): Batch {
  const { batch } = queue.pull(request, NOW)!;
  queue.delivered(batch.seq);
  return queue.acknowledge({ node_index: 0, batch_uuid: 'next' }, batch.seq, ({ files }) => ({
    failed: files,
    failed_cases: half(files[0]!),
  }))!;
}

describe('what clients tell of the batches of a queue', () => {
  it('is counted, also when the queue is read back', () => {
    const queue = queueOf(9);
    const batches = ['a', 'bb'].map(uuid => queue.pull({ ...request, batch_uuid: uuid }, NOW)!.batch);
    expect(queue.text.characters).toBe(3);
    expect(queueOf(9, batches).text.characters).toBe(3);
    queue.undelivered(batches[1]!.seq);
    expect(queue.text.characters).toBe(1);
  });

  it('is kept by test case up to a bound; beyond it the files failed as a whole', () => {
    const queue = queueOf(30);
    const batches = [failing(queue), failing(queue), failing(queue)];
    expect(batches.map(({ failed_cases }) => failed_cases !== undefined)).toEqual([true, true, false]);
    expect(batches[2]!.failed).toEqual(batches[2]!.files);
    expect(queue.text.characters).toBe(limits.failedCaseCharactersPerQueue);
    // Run again, all of them are, and none in part.
    const again = queue.pull({ ...request, run: 'run-2', starts: true }, NOW)!.batch;
    expect(again.files.sort()).toEqual(batches.flatMap(({ files }) => files).sort());
    expect(again.cases).toBeUndefined();
  });
});
