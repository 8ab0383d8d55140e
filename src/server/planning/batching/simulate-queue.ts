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
  const { nodeTotal } = parameters;
  const bound = lowerBound(weights, nodeTotal);
  const longest = weights[0] ?? 0;
  const total = totalWeight(weights);
  const batches = countBatches({ share: total / nodeTotal, files: weights.length, batches: 0 }, parameters);
  const working = total / nodeTotal + batches * parameters.pullCost;
  const waiting = batches === 0 ? 0 : bound + parameters.pullCost;
  return {
    makespan: Math.ceil(Math.max(working, waiting)),
    lowerBound: bound,
    isBoundByFile: longest === bound && longest * nodeTotal > total && waiting >= working,
  };
}

/** The work that is left to a node: its share, the files that all nodes share, and the number of batches that it was handed before. */
interface Rest {
  share: number;
  files: number;
  batches: number;
}

/** In how many batches a node gets the rest of its share. */
export function countBatches(rest: Rest, parameters: Pick<QueueParameters, 'nodeTotal' | 'pullCost' | 'isGuessed'>): number {
  const { nodeTotal, pullCost } = parameters;
  // A batch has at least one file.
  const minWeight = (rest.share * nodeTotal) / rest.files;
  let count = 0;
  for (let { share, batches } = rest; share > 0 && count * nodeTotal < rest.files; batches++, count++) {
    const situation = { share, batches, remaining: share * nodeTotal, pullCost, hasMeasured: batches > 0 };
    share -= Math.max(minWeight, batchWeight(situation, parameters));
  }
  return count;
}
