import type { PartName } from '../../../protocol/answers/minutes.js';
import type { Timeline } from '../timeline/timeline.js';
import { busyTime, type Execution, type NodeWork } from './executions.js';
import type { NodeMinutes } from './node-minutes.js';
import type { Slowness } from './slowness.js';

/** Causes of a late end, in the order in which they are looked at. */
export const CAUSES = ['estimates', 'slow_nodes', 'late_starts', 'repeats', 'unreported', 'gaps'] as const;
export type CauseName = (typeof CAUSES)[number] & PartName;

/** Why the last span of a node ended when it did. Durations are seconds. */
export interface LastSpan {
  /** By how much it would have been shorter without each cause. Negative: it would have been longer. */
  excess: Readonly<Record<CauseName, number>>;
  /** The file that exceeded its estimate most; null: none did. */
  overrun: Overrun | null;
}

export interface Overrun {
  file: number;
  /** Seconds that the file took. */
  seconds: number;
  /** By how much that is more than its estimate, at the speed of its node. */
  by: number;
}

/** The last spans of nodes, by node. */
export function lastSpansOf(
  nodes: readonly NodeWork[],
  minutes: readonly NodeMinutes[],
  slowness: Slowness,
  timeline: Pick<Timeline, 'paths' | 'estimates' | 'cost'>,
): LastSpan[] {
  const moved = lostFiles(nodes, timeline.paths.length);
  return nodes.map((node, index) => lastSpanOf(node, minutes[index]!, slowness, timeline, moved));
}

/** Has 1 for each file that one node got and did not record, and that another node recorded. */
function lostFiles(nodes: readonly NodeWork[], count: number): Uint8Array {
  const lost = new Uint8Array(count);
  for (const { works } of nodes)
    for (const { executions } of works)
      for (const { file, isRepeat, seconds } of executions) if (isRepeat && seconds === null) lost[file] = 1;
  return lost;
}

function lastSpanOf(
  { lane, works }: NodeWork,
  { node_index, late }: NodeMinutes,
  { significant, ratio }: Slowness,
  { estimates, cost }: Pick<Timeline, 'estimates' | 'cost'>,
  moved: Uint8Array,
): LastSpan {
  const last = works.at(-1);
  const factor = significant[node_index]!;
  const none = { estimates: 0, slow_nodes: 0, repeats: 0, unreported: 0, gaps: 0 };
  if (!last) return { excess: { ...none, late_starts: late }, overrun: null };
  const { span, executions, scale } = last;
  const isAgain = ({ file, isRepeat }: Execution) => isRepeat || moved[file] === 1;
  const work = executions.filter(execution => !isAgain(execution));
  const busy = busyTime(work);
  // Until a node comes back to run its files again, the others wait for it, too.
  const before = works.at(-2)?.span.to ?? span.from;
  const errors = work.flatMap(({ file, seconds }): Overrun[] => {
    const estimate = estimates[file] ?? 0;
    return seconds === null || estimate === 0 ? [] : [{ file, seconds, by: scale * (seconds - estimate * ratio * factor) }];
  });
  const error = errors.reduce((sum, { by }) => sum + by, 0);
  const most = errors.reduce<Overrun | null>((worst, each) => (each.by > (worst?.by ?? 0) ? each : worst), null);
  const between = lane.end! - (work.length === 0 ? before : span.from) - busyTime(executions);
  const unreported = Math.max(0, Math.min(between, (cost?.hidden ?? 0) * work.length));
  const excess = {
    estimates: error,
    slow_nodes: (busy - error) * (1 - 1 / factor),
    // A node that asked again got less because it was late.
    late_starts: works.length === 1 ? late : 0,
    repeats: busyTime(executions, isAgain),
    unreported,
    gaps: between - unreported,
  };
  return { excess, overrun: most };
}
