import { wholeMilliseconds } from '../../../base/rounding.js';
import { countedNodes } from '../timeline/counted-nodes.js';
import type { Timeline } from '../timeline/timeline.js';
import { executionsOf, type NodeWork } from './executions.js';
import { type Slowness, slownessOf } from './slowness.js';

/** The least time of any plan. Durations are seconds. */
export interface Floor {
  worked: NodeWork[];
  slowness: Slowness;
  /** The time of all files at the usual speed of the nodes, each file once, divided by the number of counted nodes. */
  evenShare: number;
  /** Time by which the longest file exceeds an even share. */
  beyond: number;
  /** `evenShare` + `beyond`, in whole milliseconds. */
  floor: number;
  /** The execution that took longest at usual speed; null: nothing ran. */
  longest: LongExecution | null;
}

export interface LongExecution {
  file: number;
  node_index: number;
  /** Seconds that the file took there. */
  seconds: number;
}

export function floorOf(timeline: Timeline): Floor {
  const worked = executionsOf(timeline);
  const slowness = slownessOf(worked, timeline);
  let usual = 0;
  let longest: LongExecution | null = null;
  let most = 0;
  for (const [node_index, { works }] of worked.entries()) {
    const factor = slowness.significant[node_index]!;
    for (const { span, executions } of works) {
      for (const { file, isRepeat, seconds, busy } of executions) {
        if (isRepeat) continue;
        usual += busy / factor;
        const own = seconds ?? busy;
        // It counts as at most the span that it was in.
        const atUsualSpeed = Math.min(own, span.to - span.from) / factor;
        if (longest && atUsualSpeed <= most) continue;
        longest = { file, node_index, seconds: own };
        most = atUsualSpeed;
      }
    }
  }
  const evenShare = usual / countedNodes(timeline).length;
  const beyond = Math.max(0, most - evenShare);
  return { worked, slowness, evenShare, beyond, floor: Math.min(timeline.wall, wholeMilliseconds(evenShare + beyond)), longest };
}
