import { describe, expect, it } from 'vitest';
import type { Batch, Pull } from '../../../../src/server/engine/queue/batch.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import { decodeChange, encodeChange } from '../../../../src/server/store/codecs/queue-changes.js';
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

describe('a repeated request', () => {
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
  it('keeps a batch that an earlier answer brought', () => {
    const queue = queueOf(3);
    const first = pull(queue, { batch_uuid: 'u-1' });
    const replay = queue.pull(requestOf({ batch_uuid: 'u-1' }), NOW)!;
    expect(queue.undelivered(replay.batch.seq)).toBe(false);
    expect(queue.filesLeft).toBe(2);
    expect(pull(queue, { batch_uuid: 'u-1' })).toEqual(first);
  });
});

describe('a queue that is read back from its journal', () => {
  it('repeats once an unconfirmed last batch to a node without uuids', () => {
    const before = new Journaled(5);
    before.pull({});
    const unconfirmed = before.pull({}, 'handed');
    const after = before.readBack();
    expect(pull(after)).toEqual(unconfirmed);
    expect(pull(after)).not.toEqual(unconfirmed);
    expect(after.filesLeft).toBe(2);
  });

  it('lacks the note of such a batch unless the node says that it repeats its request', () => {
    const before = new Journaled(5);
    before.pull({}, 'handed');
    const after = before.readBack();
    for (const isRetry of [false, true]) expect(after.lacksNote(requestOf({ isRetry }))).toBe(!isRetry);
    expect(after.lacksNote(requestOf({ node_index: 1 }))).toBe(false);
    after.delivered(0);
    expect(after.lacksNote(requestOf({}))).toBe(false);
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
});

describe('a fixed split', () => {
  const rerun: Partial<Pull> = { run: 'run-2', wantsLastSplit: true };

  it('gives remaining files to a node that had none', () => {
    const queue = queueOf(4);
    pull(queue);
    const { batch } = queue.pull(requestOf({ ...rerun, node_index: 3, recordedRunId: 'subset-1' }), NOW)!;
    expect(batch).toMatchObject({ files: [1], isReplay: false, build_subset_id: null });
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

  it('gives a node that restarts in the same CI build all its files, even if its last batch is unconfirmed', () => {
    const before = new Journaled(5);
    const had = before.pull({});
    had.push(...before.pull({}, 'handed'));
    const after = before.readBack();
    expect(pull(after, { wantsLastSplit: true })).toEqual(had);
  });
});

describe('a process that is cancelled', () => {
  /** A queue, as it is read back after its changes were stored. */
  const readBack = (batches: readonly Batch[]) =>
    queueOf(
      6,
      batches.map(batch => decodeChange(encodeChange(batch)) as Batch),
    );
  const cancelledQueue = () => {
    const queue = queueOf(6);
    const before = queue.pull(requestOf(), NOW)!.batch;
    const last = queue.pull(requestOf(), NOW + 1)!.batch;
    return { queue, before, last };
  };

  const process = (run = 'run-1', node_index = 0) => ({ node_index, run });
  const ACKNOWLEDGES = { acknowledges: true } as const;

  it('has its last batch say so, once, also when the queue is read back', () => {
    const { queue, before, last } = cancelledQueue();
    expect([queue.cancel(process('run-2'), null, NOW + 2), queue.cancel(process('run-1', 1), null, NOW + 2)]).toEqual([null, null]);
    expect(queue.hasCancelled).toBe(false);
    expect(queue.cancel(process(), null, NOW + 2)).toEqual({ ...last, cancelled_at: NOW + 2 });
    expect(queue.cancel(process(), null, NOW + 3)).toBeNull();
    const again = readBack([before, last]);
    expect([again.hasCancelled, again.cancel(process(), null, NOW + 3)]).toEqual([true, null]);
  });

  it('keeps its files if it does not report what it ran, and is at work again with the next process of its node', () => {
    const { queue } = cancelledQueue();
    queue.cancel(process(), null, NOW + 2);
    expect([queue.filesLeft, queue.pull(requestOf(), NOW + 3), queue.hasCancelled]).toEqual([4, null, true]);
    const { batch } = queue.pull(requestOf({ run: 'run-2', isFirstRequest: true }), NOW + 4)!;
    expect([batch.files, batch.cancelled_at, queue.hasCancelled]).toEqual([[2], undefined, false]);
    expect(queue.cancel(process(), null, NOW + 5)).toBeNull();
  });

  it.each([
    ['in memory', false],
    ['read back', true],
  ])('gives its files to the next node that pulls, with the queue %s', (_, isReadBack) => {
    const queue = queueOf(6);
    const given = queue.pull(requestOf(ACKNOWLEDGES), NOW)!.batch;
    queue.cancel(process(), null, NOW + 1);
    expect([queue.filesLeft, given.lease]).toEqual([6, 'cancelled']);
    const again = isReadBack ? readBack([given]) : queue;
    expect(again.pull(requestOf({ ...ACKNOWLEDGES, node_index: 1, run: 'run-2' }), NOW + 2)!.batch.files).toEqual(given.files);
    expect(again.filesLeft).toBe(5);
  });

  it.each([
    ['at once', true],
    ['after it gave them back', false],
  ])('keeps those of its files that it reports as passed, %s', (_, isAtOnce) => {
    const weights = new Float64Array(6).fill(10);
    const queue = new Queue(weights, { ...withoutPullCost(6), nodeTotal: 1 });
    const given = queue.pull(requestOf(ACKNOWLEDGES), NOW)!.batch;
    expect(given.files).toEqual([0, 1, 2, 3, 4, 5]);
    if (!isAtOnce) queue.cancel(process(), null, NOW + 1);
    const told = queue.cancel(process(), { seq: given.seq, failed: { failed: [4, 1] } }, NOW + 2);
    expect(told).toMatchObject({ lease: 'cancelled', failed: [4, 1] });
    expect(queue.cancel(process(), { seq: given.seq, failed: { failed: [] } }, NOW + 3)).toBeNull();
    const again = readBack([given]);
    for (const each of [queue, again]) {
      const files: number[] = [];
      const next = () => each.pull(requestOf({ ...ACKNOWLEDGES, run: 'run-2' }), NOW + 4);
      for (let handed = next(); handed; handed = next()) files.push(...handed.batch.files);
      expect(files.sort()).toEqual([1, 4]);
    }
  });

  it('keeps no file that another node got before it reported', () => {
    const queue = queueOf(6);
    const given = queue.pull(requestOf(ACKNOWLEDGES), NOW)!.batch;
    queue.cancel(process(), null, NOW + 1);
    const other = queue.pull(requestOf({ ...ACKNOWLEDGES, node_index: 1, run: 'run-2' }), NOW + 2)!.batch;
    expect(other.files).toEqual(given.files);
    queue.cancel(process(), { seq: given.seq, failed: { failed: [] } }, NOW + 3);
    expect(queue.filesLeft).toBe(5);
  });
});
