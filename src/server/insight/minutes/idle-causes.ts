import type { PartName } from '../../../protocol/answers/minutes.js';
import type { Timeline } from '../timeline/timeline.js';
import { busyTime, type Execution, type NodeWork } from './executions.js';
import type { NodeMinutes } from './node-minutes.js';
import type { Slowness } from './slowness.js';

/** The seconds by which the last span of a node would have been shorter without each cause. Negative: it would have been longer. */
type Excess = Record<Cause, number>;
/** In the order in which they are looked at. */
const CAUSES = ['estimates', 'slow_nodes', 'late_starts', 'repeats', 'unreported', 'gaps'] as const;
type Cause = (typeof CAUSES)[number] & PartName;
/** Less than a millisecond of idle time is an error of floating point. */
const ROUNDING = 0.0005;

/** A part of the time that nodes waited for the last one, and the nodes that caused it, in seconds of node time. */
export interface IdleCause {
  name: Cause;
  seconds: number;
  nodes: Map<number, number>;
}

/**
 * Divides the idle time by its causes: how much of it vanishes when the last span of each node takes its estimated time, how much of the
 * rest when slow nodes have the usual speed, how much when nodes that got all files at once begin on time, and so on. A cause without
 * which no idle time vanishes is tried again after the removal of each other cause: the node that it delays may not be the last one until
 * then. src/docs/faster/slow-builds.md has an example.
 */
export function idleCauses(
  nodes: readonly NodeWork[],
  minutes: readonly NodeMinutes[],
  slowness: Slowness,
  timeline: Pick<Timeline, 'paths' | 'estimates' | 'cost'>,
): IdleCause[] {
  const came = nodes.flatMap((node, index) => (node.lane.end === null || node.isLost ? [] : [{ node, index }]));
  const moved = lostFiles(nodes, timeline.paths.length);
  const excesses = came.map(({ node, index }) => excessOf(node, minutes[index]!, slowness, index, timeline, moved));
  let ends = came.map(({ node }) => node.lane.end!);
  const without = (name: Cause) => {
    const excess = excesses.map(each => each[name]);
    return name === 'repeats' ? endsWithoutRepeats(ends, excess) : ends.map((end, i) => end - excess[i]!);
  };
  const causes: IdleCause[] = [];
  const left = new Set<Cause>(CAUSES);
  for (;;) {
    const name = [...left].find(each => idleOf(ends) - idleOf(without(each)) > ROUNDING);
    if (name === undefined) return causes;
    const changed = without(name);
    const seconds = idleOf(ends) - idleOf(changed);
    const shares = blame(ends, changed).map((share, i) => [came[i]!.index, share * seconds] as const);
    causes.push({ name, seconds, nodes: new Map(shares.filter(([, share]) => share > 0)) });
    ends = changed;
    left.delete(name);
  }
}

/** Without its repeats, a node would have run files of other nodes. So it ends no sooner than the last node does then. */
function endsWithoutRepeats(ends: readonly number[], repeats: readonly number[]): number[] {
  const earliest = ends.map((end, i) => end - repeats[i]!);
  const last = earliest.reduce((max, end) => Math.max(max, end), -Infinity);
  return ends.map(end => Math.min(end, last));
}

/** By node: its part of the idle time that a change of the ends saves. Nodes that ended late have all of it, else those that change. */
function blame(ends: readonly number[], changed: readonly number[]): number[] {
  const level = ends.reduce((sum, end) => sum + end, 0) / ends.length;
  const later = ends.map((end, i) => Math.max(0, end - Math.max(level, changed[i]!)));
  const changes = later.some(each => each > 0) ? later : ends.map((end, i) => Math.abs(end - changed[i]!));
  const total = changes.reduce((sum, each) => sum + each, 0);
  return changes.map(each => each / total);
}

/** The time that nodes wait for the last one. */
function idleOf(ends: readonly number[]): number {
  const last = ends.reduce((max, end) => Math.max(max, end), -Infinity);
  return ends.reduce((sum, end) => sum + last - end, 0);
}

/** Has 1 for each file that one node got and did not record, and that another node recorded. */
function lostFiles(nodes: readonly NodeWork[], count: number): Uint8Array {
  const lost = new Uint8Array(count);
  for (const { works } of nodes)
    for (const { executions } of works)
      for (const { file, isRepeat, seconds } of executions) if (isRepeat && seconds === null) lost[file] = 1;
  return lost;
}

function excessOf(
  { lane, works }: NodeWork,
  { late }: NodeMinutes,
  { significant, ratio }: Slowness,
  node: number,
  { estimates, cost }: Pick<Timeline, 'estimates' | 'cost'>,
  moved: Uint8Array,
): Excess {
  const last = works.at(-1);
  const factor = significant[node]!;
  if (!last) return { estimates: 0, slow_nodes: 0, late_starts: late, repeats: 0, unreported: 0, gaps: 0 };
  const { span, executions, scale } = last;
  const isAgain = ({ file, isRepeat }: Execution) => isRepeat || moved[file] === 1;
  const work = executions.filter(execution => !isAgain(execution));
  const busy = busyTime(work);
  // Until a node comes back to run its files again, the others wait for it, too.
  const before = works.at(-2)?.span.to ?? span.from;
  const error = work.reduce((sum, { file, seconds }) => {
    const estimate = estimates[file] ?? 0;
    return seconds === null || estimate === 0 ? sum : sum + scale * (seconds - estimate * ratio * factor);
  }, 0);
  const between = lane.end! - (work.length === 0 ? before : span.from) - busyTime(executions);
  const unreported = Math.max(0, Math.min(between, (cost?.hidden ?? 0) * work.length));
  return {
    estimates: error,
    slow_nodes: (busy - error) * (1 - 1 / factor),
    // A node that asked again got less because it was late.
    late_starts: works.length === 1 ? late : 0,
    repeats: busyTime(executions, isAgain),
    unreported,
    gaps: between - unreported,
  };
}
