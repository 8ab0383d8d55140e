import { countBatches } from '../../planning/batching/simulate-queue.js';
import { mean } from '../../planning/estimating/median.js';
import { toSeconds } from '../../planning/weight.js';
import type { Millis } from '../ports/store.js';
import { type Batch, decisionOf, hadLearned } from './batch.js';

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
  /** The batches that the queue handed out itself, in the order of their numbers. */
  batches: readonly Batch[];
  /** The weights of all files (see weight.ts). */
  weights: Float64Array;
  /** The number of files that no node has. */
  filesLeft: number;
  /** Tells whether a node has recorded since it got its last batch. */
  hasRecorded: (node_index: number) => boolean;
}

/**
 * The error of the expected end in nine of ten simulated builds of recorded suites (`npm run bench -- planning`): earlier and later by parts of
 * the time that was left, later by a part of the build at most, and by a number of pulls in addition. The last node decides, so late is
 * more usual than early. The first queue of a project may have files that take a third more than their reports tell.
 */
const MARGINS = { earlier: 0.1, later: 0.3, laterOfBuild: 0.15 };
const FIRST_MARGINS = { earlier: 0.3, later: 1, laterOfBuild: 0.4 };
const PULLS = 1.5;

/**
 * When all nodes end, by what the newest decision of the planner knew: together, after the pulls that are left to each of them, or with the
 * last batch under way if that ends later. Null: the planner has sized no batch, or no node is at work and files are left.
 */
export function expectedEnd({ nodeTotal, batches, weights, filesLeft, hasRecorded }: RunningQueue, now: Millis): ExpectedEnd | null {
  const newest = batches.findLast(({ decision }) => decision !== null);
  if (!newest) return null;
  const { finish_in, slowdown, share, target, pull_cost, hidden } = decisionOf(newest)!;
  const handedAt = (batch: Batch) => Math.min(now, batch.handed_at);
  const underWay = batchesUnderWay(batches, hasRecorded).map(batch => {
    const seconds = batch.files.reduce((sum, file) => sum + toSeconds(weights[file]!), 0);
    const work = hidden * batch.files.length + slowdown * seconds;
    const duration = (1000 * work) / (decisionOf(batch)?.speed ?? 1);
    return { duration, late: now - handedAt(batch) - 1000 * pull_cost - duration };
  });
  // An overdue batch may take as long again (Lindy's law), but no longer than it was to take.
  const ends = underWay.map(({ duration, late }) => now + (late > 0 ? Math.min(late, duration) : -late));
  if (filesLeft > 0) {
    if (underWay.length === 0) return null;
    const handed = batches.filter(({ node_index }) => node_index === newest.node_index).length;
    const pulls = countBatches(
      { share: share - target, files: filesLeft, batches: handed },
      { nodeTotal, pullCost: pull_cost, isGuessed: false },
    );
    // All nodes share what the overdue ones do not do meanwhile.
    const late = mean(underWay.map(batch => Math.max(0, batch.late)));
    ends.push(handedAt(newest) + 1000 * (finish_in + pull_cost * pulls) + late);
  }
  const at = Math.max(now, ...ends);
  const margin = PULLS * 1000 * pull_cost;
  const first = decisionOf(batches.find(({ decision }) => decision !== null)!)!;
  const { earlier, later, laterOfBuild } = hadLearned(first) ? MARGINS : FIRST_MARGINS;
  // A batch that is overdue may end at any moment.
  const earliest = underWay.some(({ late }) => late > 0) ? now : Math.max(now, at - earlier * (at - now) - margin);
  const latest = at + Math.min(later * (at - now), laterOfBuild * (at - handedAt(batches[0]!))) + margin;
  return { at: Math.round(at), earliest: Math.round(earliest), latest: Math.round(latest) };
}

/** The last batch of each node, unless its files went back to the queue, or the node has reported or recorded it. */
function batchesUnderWay(batches: readonly Batch[], hasRecorded: RunningQueue['hasRecorded']): Batch[] {
  const last = new Map(batches.map(batch => [batch.node_index, batch]));
  const hasEnded = ({ node_index, lease, failed }: Batch) => (lease && lease !== 'returned') || failed || hasRecorded(node_index);
  return [...last.values()].filter(batch => batch.files.length > 0 && !hasEnded(batch));
}
