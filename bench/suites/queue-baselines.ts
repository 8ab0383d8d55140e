import type { Batch } from '../../src/server/engine/queue/batch.js';
import { type ExpectedEnd, expectedEnd } from '../../src/server/engine/queue/expected-end.js';
import { Queue } from '../../src/server/engine/queue/queue.js';
import { type BatchSums, keep, observedIn, type RecordedBatch } from '../../src/server/planning/batching/batch-cost.js';
import { toWeight } from '../../src/server/planning/weight.js';
import type { NextBatch, QueueFile } from '../../testbed/queue-simulation.js';

export interface QueueSetting {
  nodes: number;
  /** Seconds, as configured in the server. The real cost of a pull may differ. */
  pullCost: number;
}

/** A way to hand out the files of a queue. */
export type Policy = (files: readonly QueueFile[], setting: QueueSetting) => NextBatch;

/** Ballast's engine. */
export const ballast: Policy = (files, setting) => ballastQueue(files, setting, null).next;

interface BallastQueue {
  next: NextBatch;
  /** What it learned, for the next build. */
  keep: () => BatchSums | null;
  /** When it ended, in milliseconds: when the last node got no batch. */
  end: () => number;
  /** When it was expected to end, at an earlier time. */
  expectedAt: (millis: number) => ExpectedEnd | null;
}

/** Ballast's engine in one build of a project. @param learned what it kept of earlier builds */
export function ballastQueue(files: readonly QueueFile[], { nodes, pullCost }: QueueSetting, learned: BatchSums | null): BallastQueue {
  const weights = Float64Array.from(files, ({ predicted }) => toWeight(predicted));
  const isGuessed = files.filter(({ isUnknown }) => isUnknown).length > files.length / 2;
  const queue = new Queue(weights, { nodeTotal: nodes, pullCost: toWeight(pullCost), isGuessed, learned });
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

/** A fixed number of files, slowest first. Most queues use 1. */
export const fixedSize =
  (count: number): Policy =>
  files => {
    const left = [...files.keys()];
    return () => left.splice(0, count);
  };

/** One file at a time, in the order of a runner's list (here: pseudo-random). */
export const oneAtATimeAsListed: Policy = files => {
  const order = [...files.keys()].sort((a, b) => ((a * 7919) % files.length) - ((b * 7919) % files.length) || a - b);
  return () => order.splice(0, 1);
};

/** Batches of the remaining time over twice the nodes, but at least three times the cost of a pull (guided self-scheduling by time). */
export const guided: Policy = (files, { nodes, pullCost }) => {
  let left = files.reduce((sum, { predicted }) => sum + predicted, 0);
  let next = 0;
  return () => {
    const batch: number[] = [];
    let room = Math.max(3 * pullCost, left / (2 * nodes));
    for (; next < files.length && (batch.length === 0 || files[next]!.predicted <= room); next++) {
      batch.push(next);
      room -= files[next]!.predicted;
      left -= files[next]!.predicted;
    }
    return batch;
  };
};

/** No queue: a split made before the build. Each file, longest first, goes to the least loaded node. */
export const staticSplit: Policy = (files, { nodes }) => {
  const loads = Array<number>(nodes).fill(0);
  const batches = loads.map((): number[] => []);
  for (const [file, { predicted }] of files.entries()) {
    const node = loads.indexOf(Math.min(...loads));
    loads[node]! += predicted;
    batches[node]!.push(file);
  }
  return node => batches[node]!.splice(0);
};
