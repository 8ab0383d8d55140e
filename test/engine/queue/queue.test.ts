import { describe, expect, it } from 'vitest';
import type { Batch, Pull } from '../../../src/engine/queue/batch.js';
import { Queue } from '../../../src/engine/queue/queue.js';
import { NOW, requestOf } from './requests.js';

const withoutPullCost = (nodeTotal: number) => ({ nodeTotal, pullCost: 0, isGuessed: false });

/** A queue of equal files with a node for each of them, so that every batch is one file. */
const queueOf = (files: number, journal: Iterable<Batch> = []) =>
  new Queue(new Float64Array(files).fill(10), withoutPullCost(files), journal);

/** Pulls, and reports the answer as written. */
function pull(queue: Queue, overrides: Partial<Pull> = {}): number[] {
  const handedOut = queue.pull(requestOf(overrides), NOW);
  if (!handedOut) return [];
  queue.delivered(handedOut.batch.seq);
  return handedOut.batch.files;
}

/** A queue of equal files, and its batches in the journal, as copies. */
class Journaled {
  readonly journal = new Map<number, Batch>();
  readonly #queue: Queue;

  constructor(readonly files: number) {
    this.#queue = queueOf(files);
  }

  /** Pulls. The server is killed after the state `until`. */
  pull(overrides: Partial<Pull>, until: 'handed' | 'written' | 'known to be written' = 'known to be written'): number[] {
    const handed = this.#queue.pull(requestOf(overrides), NOW);
    if (!handed) return [];
    const { seq, files } = handed.batch;
    if (handed.isNew) this.journal.set(seq, structuredClone(handed.batch));
    if (until !== 'handed') {
      const isToJournal = this.#queue.delivered(seq);
      if (isToJournal && until === 'known to be written') this.journal.set(seq, { ...structuredClone(handed.batch), delivered: true });
    }
    return [...files];
  }

  readBack(): Queue {
    return queueOf(this.files, this.journal.values());
  }
}

describe('a queue', () => {
  it('hands out every file once, and then nothing', () => {
    const queue = queueOf(5);
    const handed = [0, 1, 2, 0, 1, 2].map(node_index => pull(queue, { node_index }));
    expect(handed.flat().sort()).toEqual([0, 1, 2, 3, 4]);
    expect(handed.at(-1)).toEqual([]);
    expect(pull(queue)).toEqual([]);
    expect(pull(queue, { node_index: 9 })).toEqual([]);
    expect(queue.filesLeft).toBe(0);
  });

  it('hands out the slowest files first', () => {
    const queue = new Queue(Float64Array.of(9, 7, 5, 1), withoutPullCost(4));
    expect([pull(queue), pull(queue), pull(queue)].map(files => files[0])).toEqual([0, 1, 2]);
  });

  it('describes each batch', () => {
    const queue = queueOf(2);
    expect(queue.pull(requestOf({ node_index: 1, batch_uuid: 'u-1' }), NOW)).toEqual({
      isNew: true,
      batch: {
        seq: 0,
        node_index: 1,
        run: 'run-1',
        batch_uuid: 'u-1',
        handed_at: NOW,
        files: [0],
        isFirstRequest: false,
        isReplay: false,
        build_subset_id: null,
        delivered: false,
        decision: [2, 1, 1000, 1000, 1, 1, 0, 0],
      },
    });
  });
});

describe('a batch that never reached its node', () => {
  it('does not count as work of the node', () => {
    const queue = new Queue(new Float64Array(100).fill(10_000), { nodeTotal: 2, pullCost: 0, isGuessed: false });
    const lost = queue.pull(requestOf(), NOW)!;
    expect(queue.undelivered(lost.batch.seq)).toBe(true);
    // 60 % of half of the 100 files.
    expect(pull(queue, { node_index: 1 }).length).toBe(30);
  });
});

describe('a repeated request', () => {
  it('with the same uuid gets the same batch, which is not journaled again', () => {
    const queue = queueOf(4);
    const first = queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW)!;
    queue.delivered(first.batch.seq);
    const second = queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW + 1000)!;
    expect(second).toEqual({ batch: first.batch, isNew: false });
    expect(queue.filesLeft).toBe(3);
  });

  it.each<[what: string, files: number, pulls: Partial<Pull>[], handed: number[][]]>([
    [
      'with the same uuid gets its batch even after later batches',
      4,
      ['u-1', 'u-2', 'u-3', 'u-1'].map(batch_uuid => ({ batch_uuid })),
      [[0], [1], [2], [0]],
    ],
    [
      'with the same uuid from another node gets a batch of its own',
      4,
      [0, 1].map(node_index => ({ node_index, batch_uuid: 'u-1' })),
      [[0], [1]],
    ],
    [
      'with a new uuid is a new pull, even if it is marked as a retry',
      4,
      [{ batch_uuid: 'u-1' }, { batch_uuid: 'u-2', isRetry: true }],
      [[0], [1]],
    ],
    [
      'without a uuid, but marked as a retry, gets the node’s last batch',
      6,
      [{}, {}, { node_index: 1 }, { isRetry: true }, {}],
      [[0], [1], [2], [1], [3]],
    ],
    ['gets a first batch when it is marked as a retry and the node has none', 2, [{ isRetry: true }], [[0]]],
    ['gets the end of the queue again, not the last batch', 1, [{}, {}, { isRetry: true }], [[0], [], []]],
  ])('%s', (_, files, pulls, handed) => {
    const queue = queueOf(files);
    expect(pulls.map(each => pull(queue, each))).toEqual(handed);
  });

  it('gets the last batch even if the node once got the end', () => {
    const queue = queueOf(2);
    pull(queue);
    const taken = queue.pull(requestOf({ node_index: 1 }), NOW)!;
    expect(pull(queue)).toEqual([]);
    queue.undelivered(taken.batch.seq);
    const late = pull(queue);
    expect(late).toEqual(taken.batch.files);
    expect(pull(queue, { isRetry: true })).toEqual(late);
  });

  it('without any mark is a new pull, while the node’s connection is open', () => {
    const queue = queueOf(2);
    expect([queue.pull(requestOf(), NOW), queue.pull(requestOf(), NOW)].map(handed => handed?.batch.files)).toEqual([[0], [1]]);
  });

  it('without any mark gets the last batch, after the node closed the connection of its answer', () => {
    const queue = queueOf(1);
    let left = false;
    const first = queue.pull(requestOf({ hasLeft: () => left }), NOW)!;
    left = true;
    const second = queue.pull(requestOf(), NOW);
    expect(second?.batch.files).toEqual(first.batch.files);
    expect(queue.undelivered(first.batch.seq)).toBe(false);
    queue.delivered(second!.batch.seq);
    expect(pull(queue)).toEqual([]);
  });
});

describe('a node that leaves before its answer is written', () => {
  it('loses the batch, whose files go to the next pull', () => {
    const queue = queueOf(4);
    const { batch } = queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW)!;
    expect(queue.undelivered(batch.seq)).toBe(true);
    expect(queue.filesLeft).toBe(4);
    expect(pull(queue, { node_index: 1, batch_uuid: 'u-2' })).toEqual(batch.files);
  });

  it('gets the next files when it comes back with its uuid', () => {
    const queue = queueOf(3);
    const { batch } = queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW)!;
    queue.undelivered(batch.seq);
    const others = pull(queue, { node_index: 1, batch_uuid: 'u-2' });
    const again = pull(queue, { batch_uuid: 'u-1' });
    expect(again).not.toEqual(others);
    expect(pull(queue, { batch_uuid: 'u-1' })).toEqual(again);
  });

  it('keeps the batch when its retry also brings it', () => {
    const queue = queueOf(3);
    const first = queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW)!;
    const second = queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW)!;
    expect(queue.undelivered(first.batch.seq)).toBe(false);
    queue.delivered(second.batch.seq);
    expect(queue.filesLeft).toBe(2);
    expect(pull(queue, { batch_uuid: 'u-1' })).toEqual(first.batch.files);
  });

  it('loses the batch when its retry is not written either', () => {
    const queue = queueOf(3);
    const first = queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW)!;
    queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW);
    expect([queue.undelivered(first.batch.seq), queue.undelivered(first.batch.seq)]).toEqual([false, true]);
    expect(queue.filesLeft).toBe(3);
  });

  it('keeps a batch that an earlier answer brought', () => {
    const queue = queueOf(3);
    const first = pull(queue, { batch_uuid: 'u-1' });
    const replay = queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW)!;
    expect(queue.undelivered(replay.batch.seq)).toBe(false);
    expect(queue.filesLeft).toBe(2);
    expect(pull(queue, { batch_uuid: 'u-1' })).toEqual(first);
  });

  it('changes nothing when the batch is unknown', () => {
    const queue = queueOf(2);
    expect(queue.undelivered(7)).toBe(false);
    expect(queue.delivered(7)).toBe(false);
    expect(queue.filesLeft).toBe(2);
  });
});

describe('a queue that is read back from its journal', () => {
  it('continues with the remaining files', () => {
    const before = new Journaled(5);
    const handed = [0, 1].map(node_index => before.pull({ node_index, batch_uuid: `u-${node_index}` }));
    const after = before.readBack();
    expect(after.filesLeft).toBe(3);
    while (after.filesLeft > 0) handed.push(pull(after, { node_index: 2, batch_uuid: `u-${after.filesLeft + 10}` }));
    expect(handed.flat().sort()).toEqual([0, 1, 2, 3, 4]);
  });

  it('answers an old uuid with the old batch', () => {
    const before = new Journaled(5);
    const files = before.pull({ batch_uuid: 'u-1' });
    const after = before.readBack();
    expect(after.pull(requestOf({ batch_uuid: 'u-1' }), NOW)).toEqual({ batch: before.journal.get(0), isNew: false });
    expect(files).toEqual(before.journal.get(0)!.files);
  });

  it('continues to number its batches', () => {
    const before = new Journaled(5);
    for (const batch_uuid of ['u-1', 'u-2']) before.pull({ batch_uuid });
    expect(before.readBack().pull(requestOf({ batch_uuid: 'u-3' }), NOW)!.batch.seq).toBe(2);
  });

  it('repeats once an unconfirmed last batch to a node without uuids', () => {
    const before = new Journaled(5);
    before.pull({});
    const unconfirmed = before.pull({}, 'handed');
    const after = before.readBack();
    expect(pull(after)).toEqual(unconfirmed);
    expect(pull(after)).not.toEqual(unconfirmed);
    expect(after.filesLeft).toBe(2);
  });

  it('repeats no confirmed batch to a node without uuids', () => {
    const before = new Journaled(5);
    const files = before.pull({});
    expect(pull(before.readBack())).not.toEqual(files);
  });

  it('repeats only the last batch to a node without uuids', () => {
    const before = new Journaled(5);
    before.pull({}, 'written');
    const last = before.pull({}, 'written');
    const after = before.readBack();
    expect([pull(after), pull(after)]).toEqual([last, [2]]);
  });

  it('takes a repeated batch back when the node leaves again', () => {
    const before = new Journaled(3);
    const unconfirmed = before.pull({}, 'handed');
    const after = before.readBack();
    const replay = after.pull(requestOf(), NOW)!;
    expect(after.undelivered(replay.batch.seq)).toBe(true);
    expect(pull(after, { node_index: 1 })).toEqual(unconfirmed);
  });

  it('hands out files that were put back, even if a replay of them was handed out before the restart', () => {
    const before = queueOf(3);
    const first = before.pull(requestOf(), NOW)!;
    const again = before.pull(requestOf({ wantsLastSplit: true }), NOW)!;
    expect(again.batch).toMatchObject({ isReplay: true, files: first.batch.files });
    expect(before.undelivered(first.batch.seq)).toBe(true);
    const after = queueOf(3, [again.batch]);
    expect(after.undelivered(again.batch.seq)).toBe(true);
    expect([1, 1, 1, 1].flatMap(node_index => pull(after, { node_index })).sort()).toEqual([0, 1, 2]);
  });

  it('does not repeat an older batch to a node whose newest batch was put back', () => {
    const queue = queueOf(3);
    const ran = pull(queue);
    const lost = queue.pull(requestOf(), NOW)!;
    expect(queue.undelivered(lost.batch.seq)).toBe(true);
    const retried = pull(queue, { isRetry: true });
    expect(retried).toEqual(lost.batch.files);
    expect(retried).not.toEqual(ran);
  });

  it('does not repeat a batch whose answer is reported later', () => {
    const before = new Journaled(3);
    const files = before.pull({}, 'handed');
    const after = before.readBack();
    // The queue left the memory while the answer was being written.
    expect(after.delivered(0)).toBe(true);
    expect(pull(after)).not.toEqual(files);
  });

  it('journals the delivery of batches without uuids only', () => {
    const queue = queueOf(3);
    const plain = queue.pull(requestOf(), NOW)!;
    const numbered = queue.pull(requestOf({ node_index: 1, batch_uuid: 'u-1' }), NOW)!;
    expect(queue.delivered(plain.batch.seq)).toBe(true);
    expect(queue.delivered(plain.batch.seq)).toBe(false);
    expect(queue.delivered(numbered.batch.seq)).toBe(false);
  });
});

describe('a fixed split', () => {
  const rerun: Partial<Pull> = { run: 'run-2', wantsLastSplit: true };

  it('gives a node all its files in one batch, then remaining files', () => {
    const queue = queueOf(4);
    const had = [pull(queue), pull(queue, { node_index: 1 }), pull(queue)];
    const batch = queue.pull(requestOf({ ...rerun, recordedRunId: 'subset-1' }), NOW)!;
    expect(batch.isNew).toBe(true);
    expect(batch.batch).toMatchObject({ files: [...had[0]!, ...had[2]!], isReplay: true, build_subset_id: 'subset-1' });
    queue.delivered(batch.batch.seq);
    expect(pull(queue, { run: 'run-2' })).toEqual([3]);
    expect(pull(queue, { run: 'run-2' })).toEqual([]);
  });

  it('has no subset for a node that died before it recorded any', () => {
    const queue = queueOf(4);
    pull(queue);
    expect(queue.pull(requestOf(rerun), NOW)!.batch).toMatchObject({ files: [0], build_subset_id: null });
  });

  it('gives remaining files to a node that had none', () => {
    const queue = queueOf(4);
    pull(queue);
    const { batch } = queue.pull(requestOf({ ...rerun, node_index: 3, recordedRunId: 'subset-1' }), NOW)!;
    expect(batch).toMatchObject({ files: [1], isReplay: false, build_subset_id: null });
  });

  it('loses nothing when the node leaves before the replay is written', () => {
    const queue = queueOf(3);
    const had = pull(queue);
    const { batch } = queue.pull(requestOf(rerun), NOW)!;
    expect(queue.undelivered(batch.seq)).toBe(true);
    expect(queue.filesLeft).toBe(2);
    expect(pull(queue, rerun)).toEqual(had);
  });

  it.each<[what: string, files: number, pulls: Partial<Pull>[], handed: number[][]]>([
    [
      'includes the files that the second run took in the third run',
      3,
      [{}, rerun, { run: 'run-2' }, { ...rerun, run: 'run-3' }, { ...rerun, run: 'run-4' }],
      [[0], [0], [1], [0, 1], [0, 1]],
    ],
    [
      'gives the same uuid the same batch',
      3,
      [{ batch_uuid: 'u-1' }, { ...rerun, batch_uuid: 'u-2' }, { ...rerun, batch_uuid: 'u-2' }, { run: 'run-2', batch_uuid: 'u-3' }],
      [[0], [0], [0], [1]],
    ],
    [
      'gives a node that restarts in the same CI build all its files, even if its request is a retry',
      5,
      [{}, {}, { wantsLastSplit: true, isRetry: true }],
      [[0], [1], [0, 1]],
    ],
    [
      'keeps the retries of two runs of a node apart',
      4,
      [{}, {}, rerun, { run: 'run-2', isRetry: true }, { run: 'run-1', isRetry: true }],
      [[0], [1], [0, 1], [0, 1], [1]],
    ],
  ])('%s', (_, files, pulls, handed) => {
    const queue = queueOf(files);
    expect(pulls.map(each => pull(queue, each))).toEqual(handed);
  });

  it('is kept in the journal, and does not free the files of the first run', () => {
    const before = new Journaled(3);
    before.pull({ batch_uuid: 'u-1' });
    before.pull({ ...rerun, batch_uuid: 'u-2' });
    const after = before.readBack();
    expect(after.filesLeft).toBe(2);
    expect(pull(after, { ...rerun, run: 'run-3', batch_uuid: 'u-3' })).toEqual([0]);
  });

  it('gives a node that restarts in the same CI build all its files, even if its last batch is unconfirmed', () => {
    const before = new Journaled(5);
    const had = before.pull({});
    had.push(...before.pull({}, 'handed'));
    const after = before.readBack();
    expect(pull(after, { wantsLastSplit: true })).toEqual(had);
  });
});

describe('a client that acknowledges its batches', () => {
  const acknowledging: Partial<Pull> = { acknowledges: true };

  /** Pulls and acknowledges a batch of one file. */
  function run(queue: Queue, uuid: string, failed: number[] = []): number {
    const { batch } = queue.pull(requestOf({ ...acknowledging, batch_uuid: uuid }), NOW)!;
    queue.delivered(batch.seq);
    expect(queue.acknowledge({ node_index: 0, batch_uuid: 'next' }, batch.seq, { failed })).toBe(batch);
    return batch.files[0]!;
  }

  it('acknowledges a batch once, by its own node, in a later request', () => {
    const queue = queueOf(3);
    const { batch } = queue.pull(requestOf({ ...acknowledging, batch_uuid: 'u-1' }), NOW)!;
    expect(queue.batchOf({ node_index: 1, batch_uuid: 'u-2' }, batch.seq)).toBeNull();
    expect(queue.batchOf({ node_index: 0, batch_uuid: 'u-1' }, batch.seq)).toBeNull();
    expect(queue.batchOf({ node_index: 0, batch_uuid: 'u-2' }, batch.seq)).toBe(batch);
    queue.acknowledge({ node_index: 0, batch_uuid: 'u-2' }, batch.seq, { failed: [] });
    expect(queue.batchOf({ node_index: 0, batch_uuid: 'u-3' }, batch.seq)).toBeNull();
  });

  it('gets failed files, and files recorded without a time, first when it restarts', () => {
    const queue = queueOf(4);
    const [failed, unmeasured] = [run(queue, 'u-1', [0]), run(queue, 'u-2'), run(queue, 'u-3')];
    expect(queue.filesOf(0)).toEqual([0, 1, 2]);
    const restart = { ...acknowledging, run: 'run-2', isFirstRequest: true, notRun: new Set([unmeasured!, 3]) };
    expect(pull(queue, restart)).toEqual([failed, unmeasured]);
  });
});
