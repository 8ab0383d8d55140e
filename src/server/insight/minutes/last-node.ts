import { hasLeft, hasRecordedLast, type NodeLane, type Timeline } from '../timeline/timeline.js';
import type { LongExecution } from './floor.js';
import { CAUSES, type CauseName, type Overrun } from './last-span.js';
import type { Minutes } from './minutes.js';

/** The node that ended last, among those that recorded their last files, and did not leave. Durations are seconds. */
export interface LastNode {
  lane: NodeLane;
  /** The node that ended before it, and how much earlier. */
  before: NodeLane;
  late: number;
  /** The node that ended first, and how much earlier. */
  first: NodeLane;
  spread: number;
}

/** Null: fewer than two nodes have ended. When a node ended that recorded nothing after its last files, nobody knows. */
export function lastNode({ nodes }: Pick<Timeline, 'nodes'>): LastNode | null {
  const ended = nodes
    .filter(lane => lane.end !== null && hasRecordedLast(lane) && !hasLeft(lane))
    .sort((a, b) => b.end! - a.end! || a.node_index - b.node_index);
  const [lane, before] = ended;
  if (!lane || !before) return null;
  const first = ended.at(-1)!;
  return { lane, before, late: lane.end! - before.end!, first, spread: lane.end! - first.end! };
}

const LEAST_SECONDS = 2;
const LEAST_PART = 0.02;

/** A cause and a file stand out when their part of a delay is at least this. */
const MAIN_PART = 0.5;

/** The shortest delay that matters in a build, in seconds: 2, or 2 % of its wall time if that is more. */
export function leastDelay(wall: number): number {
  return Math.max(LEAST_SECONDS, wall * LEAST_PART);
}

/** Delay of the last node: after the node before it or, where these ended together, after the first one. */
export function delayOf({ late, spread }: LastNode, wall: number): number {
  return late > leastDelay(wall) ? late : spread;
}

/** Why a node ended later than another one. */
export interface Cause {
  name: CauseName;
  /** The node that ended earlier. */
  other: number;
  /** Seconds that this cost the last node, and how many more than the other. */
  seconds: number;
  more: number;
}

/**
 * The cause that cost the last span of the last node most, beyond what it cost the node that it is compared with: the one before, or the
 * first one if these two ended together. Null: none cost it half of its delay.
 */
export function mainCause({ lastSpans, wall }: Pick<Minutes, 'lastSpans' | 'wall'>, last: LastNode): Cause | null {
  const other = (last.late > leastDelay(wall) ? last.before : last.first).node_index;
  const [own, others] = [last.lane.node_index, other].map(node => lastSpans[node]!.excess);
  const least = MAIN_PART * delayOf(last, wall);
  let main: Cause | null = null;
  for (const name of CAUSES) {
    const seconds = own![name];
    const more = seconds - Math.max(0, others![name]);
    if (more >= least && more > (main?.more ?? 0)) main = { name, other, seconds, more };
  }
  return main;
}

/** The file of the last span of a node that exceeded its estimate most, if by at least half of a delay. */
export function overrunFile({ lastSpans }: Pick<Minutes, 'lastSpans'>, node: number, delay: number): Overrun | null {
  const { overrun } = lastSpans[node]!;
  return overrun && overrun.by >= MAIN_PART * delay ? overrun : null;
}

/** The longest execution, if it takes longer than an even share of the work by a delay that matters, and its node ended last: all wait for it. */
export function decidingExecution({ nodes }: Pick<Timeline, 'nodes'>, { parts, longest, wall }: Minutes): LongExecution | null {
  const part = parts.find(({ name }) => name === 'longest_file')!;
  if (!longest || part.seconds <= leastDelay(wall)) return null;
  return wall - (nodes[longest.node_index]!.end ?? 0) <= leastDelay(wall) ? longest : null;
}

/**
 * The file without which the build would have ended earlier: the longest one, if all nodes wait for it. Else,
 * if the last node was late because of estimates, the file of its last span that exceeded its own by at least half of the delay. Null:
 * none stands out.
 */
export function decidingFile(timeline: Timeline, minutes: Minutes): number | null {
  const longest = decidingExecution(timeline, minutes);
  if (longest) return longest.file;
  const last = lastNode(timeline);
  if (!last || last.late <= leastDelay(minutes.wall) || mainCause(minutes, last)?.name !== 'estimates') return null;
  return overrunFile(minutes, last.lane.node_index, last.late)?.file ?? null;
}
