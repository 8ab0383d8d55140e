import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/protocol/limits.js';
import type { Batch } from '../../../../src/server/engine/queue/batch.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import { NOW, requestOf } from './requests.js';

/** A queue with one file a batch. */
const queueOf = (files: number, journal: Iterable<Batch> = []) =>
  new Queue(new Float64Array(files).fill(10), { nodeTotal: files, pullCost: 0, isGuessed: false }, journal);
const request = requestOf({ acknowledges: true });

/** Failed test cases of half the characters that a queue keeps. */
const half = (file: number): [number, string[]][] => [[file, ['c'.repeat(limits.failedCaseCharactersPerQueue / 2)]]];

function runFailing(queue: Queue): Batch {
  const { batch } = queue.pull(request, NOW)!;
  queue.delivered(batch.seq);
  const { files } = batch;
  return queue.acknowledge({ node_index: 0, batch_uuid: 'next' }, batch.seq, { failed: files, failed_cases: half(files[0]!) })!;
}

describe('the text from clients in the batches of a queue', () => {
  it('is counted, even if the queue is read back', () => {
    const queue = queueOf(9);
    const batches = ['a', 'bb'].map(uuid => queue.pull({ ...request, batch_uuid: uuid }, NOW)!.batch);
    expect(queue.text.characters).toBe(3);
    expect(queueOf(9, batches).text.characters).toBe(3);
    queue.undelivered(batches[1]!.seq);
    expect(queue.text.characters).toBe(1);
  });

  it('has failed test cases up to a limit, and beyond it whole failed files', () => {
    const queue = queueOf(30);
    const batches = [runFailing(queue), runFailing(queue), runFailing(queue)];
    expect(batches.map(({ failed_cases }) => failed_cases !== undefined)).toEqual([true, true, false]);
    expect(batches[2]!.failed).toEqual(batches[2]!.files);
    expect(queue.text.characters).toBe(limits.failedCaseCharactersPerQueue);
    // Without room for the test cases, the replay has whole files.
    const replay = queue.pull({ ...request, run: 'run-2', isFirstRequest: true }, NOW)!.batch;
    expect(replay.files.sort()).toEqual(batches.flatMap(({ files }) => files).sort());
    expect(replay.cases).toBeUndefined();
  });
});
