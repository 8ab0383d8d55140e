import type { Batch } from '../../src/server/engine/queue/batch.js';
import { type ExpectedEnd, expectedEnd } from '../../src/server/engine/queue/expected-end.js';
import { Queue } from '../../src/server/engine/queue/queue.js';
import { type BatchSums, keep, observedIn, type RecordedBatch } from '../../src/server/planning/batching/batch-cost.js';
import { toWeight } from '../../src/server/planning/weight.js';
import type { NextBatch, Policy, QueueFile, QueueSetting } from './queue-simulation.js';

/** Ballast's engine. */
export const ballast: Policy = (files, setting) => ballastQueue(files, setting, null).next;

interface BallastQueue {
  next: NextBatch;
  /** Returns the costs that the queue learned, for the next build. */
  keep: () => BatchSums | null;
  /** When it ended, in milliseconds: when the last node got no batch. */
  end: () => number;
  /** When it was expected to end, at an earlier time. */
  expectedAt: (millis: number) => ExpectedEnd | null;
}

/**
 * Ballast's engine in one build of a project.
 *
 * @param learned what it kept of earlier builds
 * @param first the files that go first
 */
export function ballastQueue(
  files: readonly QueueFile[],
  { nodes, pullCost }: QueueSetting,
  learned: BatchSums | null,
  first: readonly number[] = [],
): BallastQueue {
  const weights = Float64Array.from(files, ({ predicted }) => toWeight(predicted));
  const isGuessed = files.filter(({ isUnknown }) => isUnknown).length > files.length / 2;
  const queue = new Queue(weights, { nodeTotal: nodes, pullCost: toWeight(pullCost), isGuessed, learned, first });
  const batches: Batch[] = [];
  const recorded: RecordedBatch[] = [];
  const ended = new Map<number, number>();
  const next: NextBatch = (node_index, millis) => {
    const request = { node_index, run: 'run', batch_uuid: null, isRetry: false, isFirstRequest: false, wantsLastSplit: false };
    const handed = queue.pull({ ...request, recordedRunId: null, hasLeft: () => false }, millis);
    const last = batches.findLast(batch => batch.node_index === node_index);
    if (last) recorded.push(toRecorded(last, millis));
    if (handed) queue.delivered(handed.batch.seq);
    if (handed) batches.push(handed.batch);
    else ended.set(node_index, millis);
    return handed?.batch.files ?? [];
  };
  const toRecorded = (batch: Batch, millis: number): RecordedBatch => {
    const seconds = batch.files.reduce((sum, file) => sum + (files[file]!.reported ?? files[file]!.actual), 0);
    return { files: batch.files.length, weight: toWeight(seconds), elapsed: toWeight((millis - batch.handed_at) / 1000) };
  };
  const keepLearned = () => {
    const observed = queue.takeObserved();
    // The server does that when the first build of a project has ended.
    return observed ? keep(learned, observed) : (learned ?? observedIn(recorded, { setting: toWeight(pullCost), learned: null }));
  };
  const expectedAt = (millis: number) => {
    const handed = batches.filter(({ handed_at }) => handed_at <= millis);
    const filesLeft = files.length - handed.reduce((sum, batch) => sum + batch.files.length, 0);
    const hasRecorded = (node: number) => (ended.get(node) ?? Infinity) <= millis;
    return expectedEnd({ nodeTotal: nodes, batches: handed, weights, filesLeft, hasRecorded }, millis);
  };
  return { next, keep: keepLearned, end: () => Math.max(...ended.values()), expectedAt };
}
