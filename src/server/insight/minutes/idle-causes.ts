import type { NodeWork } from './executions.js';
import { CAUSES, type CauseName, type LastSpan } from './last-span.js';

/** Less than a millisecond of idle time is an error of floating point. */
const ROUNDING = 0.0005;

/** A part of the time that nodes waited for the last one, and the nodes that caused it, in seconds of node time. */
export interface IdleCause {
  name: CauseName;
  seconds: number;
  nodes: Map<number, number>;
}

/**
 * Divides the idle time by its causes: how much of it vanishes when the last span of each node takes its estimated time, how much of the
 * rest when slow nodes have the usual speed, how much when nodes that got all files at once begin on time, and so on. A cause without
 * which no idle time vanishes is tried again after the removal of each other cause: the node that it delays may not be the last one until
 * then. src/docs/faster/slow-builds.md has an example.
 */
export function idleCauses(nodes: readonly NodeWork[], lastSpans: readonly LastSpan[]): IdleCause[] {
  const came = nodes.flatMap((node, index) => (node.lane.end === null || node.isLost ? [] : [{ node, index }]));
  let ends = came.map(({ node }) => node.lane.end!);
  const without = (name: CauseName) => {
    const excess = came.map(({ index }) => lastSpans[index]!.excess[name]);
    return name === 'repeats' || name === 'estimates' ? endsWithoutFiles(ends, excess) : ends.map((end, i) => end - excess[i]!);
  };
  const causes: IdleCause[] = [];
  const left = new Set<CauseName>(CAUSES);
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

/**
 * Without its repeats, or with files that take their estimated time, a node would have run files of other nodes. So it ends no sooner than
 * the last node does then.
 */
function endsWithoutFiles(ends: readonly number[], excess: readonly number[]): number[] {
  const earliest = ends.map((end, i) => end - excess[i]!);
  const last = earliest.reduce((max, end) => Math.max(max, end), -Infinity);
  return ends.map((end, i) => Math.max(earliest[i]!, Math.min(end, last)));
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
