export interface QueueOutlook {
  /** Predicted seconds of what is left, and of the whole queue. */
  left: number;
  total: number;
  nodeTotal: number;
  /** Seconds that a node loses between two batches. */
  pullCost: number;
  /** Whether any file of the queue was measured before. */
  measured: boolean;
}

/**
 * Predicted seconds of the next batch: max(3c, R/2M), so that batches shrink towards the end and none is
 * so short that the cost of pulling it shows. Without any history the predictions say nothing, so batches
 * stay small: max(c, R/10M). Never more than a node's fair share of the whole.
 */
export function batchSeconds({ left, total, nodeTotal, pullCost, measured }: QueueOutlook): number {
  const target = measured ? Math.max(3 * pullCost, left / (2 * nodeTotal)) : Math.max(pullCost, left / (10 * nodeTotal));
  return Math.min(target, total / nodeTotal);
}
