import type { ExpectedOutcome } from '../forecasting/forecast.js';
import { lowerBound } from '../packing/bound.js';
import { batchWeight, type QueueParameters } from './batch-weight.js';

/**
 * What a queue comes to if its nodes start together and its predictions are exact: what each node does, and its pulls.
 * The lower bound is that of the files, as if pulls cost nothing.
 *
 * @param weights in descending order
 */
export function simulateQueue(weights: Float64Array, outlook: QueueParameters): ExpectedOutcome {
  const { nodeTotal, pullCost } = outlook;
  const bound = lowerBound(weights, nodeTotal);
  const longest = weights[0] ?? 0;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  // A batch has a file at least.
  const least = total / weights.length;
  let batches = 0;
  for (let share = total / nodeTotal; share > 0 && batches * nodeTotal < weights.length; batches++) {
    share -= Math.max(least, batchWeight({ share, batches, left: share * nodeTotal, pullCost }, outlook));
  }
  const working = total / nodeTotal + batches * pullCost;
  const waiting = batches === 0 ? 0 : bound + pullCost;
  return {
    makespan: Math.ceil(Math.max(working, waiting)),
    lowerBound: bound,
    isBoundByFile: longest === bound && longest * nodeTotal > total && waiting >= working,
  };
}
