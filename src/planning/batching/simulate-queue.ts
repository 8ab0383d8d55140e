import type { ExpectedOutcome } from '../forecasting/forecast.js';
import { lowerBound } from '../packing/bound.js';
import { totalWeight } from '../weight.js';
import { batchWeight, type QueueParameters } from './batch-weight.js';

/**
 * Simulates a queue whose nodes start together and whose predictions are exact. The makespan includes the pulls, the lower
 * bound does not.
 *
 * @param weights in descending order
 */
export function simulateQueue(weights: Float64Array, parameters: QueueParameters): ExpectedOutcome {
  const { nodeTotal, pullCost } = parameters;
  const bound = lowerBound(weights, nodeTotal);
  const longest = weights[0] ?? 0;
  const total = totalWeight(weights);
  // A batch has at least one file.
  const minWeight = total / weights.length;
  let batches = 0;
  for (let share = total / nodeTotal; share > 0 && batches * nodeTotal < weights.length; batches++) {
    const remaining = share * nodeTotal;
    share -= Math.max(
      minWeight,
      batchWeight({ share, batches, files: remaining / minWeight, remaining, pullCost, hasMeasured: batches > 0 }, parameters),
    );
  }
  const working = total / nodeTotal + batches * pullCost;
  const waiting = batches === 0 ? 0 : bound + pullCost;
  return {
    makespan: Math.ceil(Math.max(working, waiting)),
    lowerBound: bound,
    isBoundByFile: longest === bound && longest * nodeTotal > total && waiting >= working,
  };
}
