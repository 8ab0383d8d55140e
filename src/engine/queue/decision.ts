/** Why a batch has its size: what the planner knew and decided when the batch was handed out. */
export interface Decision {
  /** Seconds of estimates that were left in the queue, those of this batch included. */
  remaining: number;
  /** Seconds until all nodes would finish together, as expected then. */
  finishIn: number;
  /** The speed of the node relative to the others, as measured until then; 1: usual or unknown. */
  speed: number;
  /** Actual over estimated duration of all batches of the queue until then; 1: as estimated, or unknown. */
  slowdown: number;
  /** Seconds of estimates that the node would run until then. */
  share: number;
  /** Seconds of estimates that the batch was to have: a part of the share, or all of it. */
  target: number;
  /** Seconds that a node loses between two batches, as estimated until then. */
  pullCost: number;
}
