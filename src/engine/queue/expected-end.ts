import { countBatches } from '../../planning/batching/simulate-queue.js';
import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import type { Millis } from '../ports/store.js';
import type { Batch } from './batch.js';

/** When all nodes of a queue are expected to end. */
export interface ExpectedEnd {
  at: Millis;
  /** The end lies between these in nine of ten builds. */
  earliest: Millis;
  latest: Millis;
}

/** A queue whose nodes are at work. */
export interface RunningQueue {
  nodeTotal: number;
  /** Those that it handed out itself, in the order of their numbers. */
  batches: readonly Batch[];
  /** The weights of all files (see weight.ts). */
  weights: Float64Array;
  /** How many files no node has. */
  filesLeft: number;
  /** Whether a node has recorded since it got its last batch. */
  hasRecorded: (node_index: number) => boolean;
}

/**
 * How far the end was off in nine of ten simulated builds of recorded suites (`npm run bench -- planning`): parts of the time that was left,
 * and a number of pulls. It was later by no more than a part of the whole build. The last node decides, so later is more usual.
 */
const EARLIER = 0.1;
const LATER = 0.3;
const LATER_OF_BUILD = 0.15;
const PULLS = 1.5;

/**
 * When all nodes end, by what the newest decision of the planner knew: together, after the pulls that are left to each of them, or with the
 * last batch under way if that ends later. Null: the planner has sized no batch.
 */
export function expectedEnd({ nodeTotal, batches, weights, filesLeft, hasRecorded }: RunningQueue, now: Millis): ExpectedEnd | null {
  const newest = batches.findLast(({ decision }) => decision !== null);
  if (!newest) return null;
  const [, finishIn, , slowdown, share, target, pullCost, hidden] = newest.decision!;
  const workOf = ({ files }: Batch) => {
    const weight = files.reduce((sum, file) => sum + weights[file]!, 0);
    return hidden * files.length + (slowdown / WEIGHTS_PER_SECOND) * weight;
  };
  const ends = batchesUnderWay(batches, hasRecorded).map(batch => {
    const speed = batch.decision?.[2] ?? 1000;
    const work = (1000 * workOf(batch)) / speed;
    const end = batch.handed_at + pullCost + work;
    // An overdue batch may take as long again (Lindy's law), but no longer than it was to take.
    return end >= now ? end : now + Math.min(now - end, work);
  });
  if (filesLeft > 0) {
    const handed = batches.filter(({ node_index }) => node_index === newest.node_index).length;
    const rest = { share: share - target, files: filesLeft, batches: handed };
    ends.push(newest.handed_at + finishIn + pullCost * countBatches(rest, { nodeTotal, pullCost, isGuessed: false }));
  }
  const at = Math.max(now, ...ends);
  const earliest = Math.max(now, at - EARLIER * (at - now) - PULLS * pullCost);
  const latest = at + Math.min(LATER * (at - now), LATER_OF_BUILD * (at - batches[0]!.handed_at)) + PULLS * pullCost;
  return { at: Math.round(at), earliest: Math.round(earliest), latest: Math.round(latest) };
}

/** The last batch of each node, unless its files went back to the queue, or the node has reported or recorded it. */
function batchesUnderWay(batches: readonly Batch[], hasRecorded: RunningQueue['hasRecorded']): Batch[] {
  const last = new Map(batches.map(batch => [batch.node_index, batch]));
  const hasEnded = ({ node_index, lease, failed }: Batch) => (lease && lease !== 'returned') || failed || hasRecorded(node_index);
  return [...last.values()].filter(batch => batch.files.length > 0 && !hasEnded(batch));
}
