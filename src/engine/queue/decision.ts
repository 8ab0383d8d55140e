import type { PullSituation } from '../../planning/batching/batch-weight.js';
import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';

/** Why a batch has its size: what the planner knew and decided when the batch was handed out. */
export interface Decision {
  /** Seconds that the files left in the queue would take a node of usual speed, those of this batch included. */
  remaining: number;
  /** Seconds until all nodes would finish together, as expected then. */
  finish_in: number;
  /** The speed of the node relative to the others, as measured until then; 1: usual or unknown. */
  speed: number;
  /** What a second of estimates took until then; 1: as estimated, or unknown. */
  slowdown: number;
  /** Seconds of work that the node would do until then. */
  share: number;
  /** Seconds of work that the batch was to have: a part of the share, or all of it. */
  target: number;
  /** Seconds that a node loses between two batches, as learned until then. */
  pull_cost: number;
  /** Seconds that each file takes besides its estimate, as learned until then. */
  hidden: number;
}

/** A decision as a batch keeps it: the fields of `Decision` in their order, in whole milliseconds, and in thousandths for the two ratios. */
export type KeptDecision = [
  remaining: number,
  finishIn: number,
  speed: number,
  slowdown: number,
  share: number,
  target: number,
  pullCost: number,
  hidden: number,
];

/** What a node's speed and the state of its queue tell about its next batch. Times are weights (see weight.ts). */
export interface Situation extends PullSituation {
  /** `finish_in` of `Decision`. */
  finishIn: number;
  speed: number;
  slowdown: number;
  hidden: number;
}

/** @param target the weight that the batch was to have */
export function keepDecision(situation: Situation, target: number): KeptDecision {
  const { remaining, finishIn, speed, slowdown, share, pullCost, hidden } = situation;
  return [
    toMillis(remaining),
    toMillis(finishIn),
    Math.round(speed * 1000),
    Math.round(slowdown * 1000),
    toMillis(share),
    toMillis(target),
    toMillis(pullCost),
    toMillis(hidden),
  ];
}

/** The decision behind a batch; null: the planner did not size it. */
export function decisionOf({ decision }: { decision: KeptDecision | null }): Decision | null {
  if (!decision) return null;
  const [remaining, finish_in, speed, slowdown, share, target, pull_cost, hidden] = decision.map(value => value / 1000) as KeptDecision;
  return { remaining, finish_in, speed, slowdown, share, target, pull_cost, hidden };
}

function toMillis(weight: number): number {
  return Math.round((weight / WEIGHTS_PER_SECOND) * 1000);
}
