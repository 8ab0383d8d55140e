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
 * stay small: max(c, R/10M). In a suite so short that 3c is a large part of a node's share, a quarter of that
 * share is the least instead, or a node that comes early would take what was meant for one that comes late.
 */
export function batchSeconds({ left, total, nodeTotal, pullCost, measured }: QueueOutlook): number {
  const least = Math.min(measured ? 3 * pullCost : pullCost, total / (4 * nodeTotal));
  return Math.max(least, left / ((measured ? 2 : 10) * nodeTotal));
}
