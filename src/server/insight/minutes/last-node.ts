import type { PartName } from '../../../protocol/answers/minutes.js';
import { hasRecordedLast, type NodeLane, type Span, type Timeline, type TimelineFiles } from '../timeline/timeline.js';
import type { LongExecution } from './floor.js';
import type { Minutes } from './minutes.js';

/** The node that ended last, among those that recorded their last files. Durations are seconds. */
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
    .filter(lane => lane.end !== null && hasRecordedLast(lane))
    .sort((a, b) => b.end! - a.end! || a.node_index - b.node_index);
  const [lane, before] = ended;
  if (!lane || !before) return null;
  const first = ended.at(-1)!;
  return { lane, before, late: lane.end! - before.end!, first, spread: lane.end! - first.end! };
}

const LEAST_SECONDS = 2;
const LEAST_PART = 0.02;

/** A file stands out when its part of a delay is at least this. */
const MAIN_PART = 0.5;

/** The shortest delay that matters in a build, in seconds: 2, or 2 % of its wall time if that is more. */
export function leastDelay(wall: number): number {
  return Math.max(LEAST_SECONDS, wall * LEAST_PART);
}

/** Why a node ended later than another one. Durations are seconds. */
export interface Cause {
  name: PartName;
  /** The node that ended earlier, and how much less it adds to this part of the minutes. */
  other: number;
  more: number;
}

/**
 * The part of the minutes, without idle time, to which the last node adds most more than the node that it is compared with: the one before,
 * or the first one if these two ended together. Null: too little to any part.
 */
export function mainCause({ parts, wall }: Pick<Minutes, 'parts' | 'wall'>, { lane, before, late, first }: LastNode): Cause | null {
  const other = (late > leastDelay(wall) ? before : first).node_index;
  let main: Cause | null = null;
  for (const { name, nodes } of parts) {
    const secondsOf = (node: number) => nodes.find(({ node_index }) => node_index === node)?.seconds ?? 0;
    const more = secondsOf(lane.node_index) - secondsOf(other);
    if (name !== 'idle' && more >= leastDelay(wall) && more > (main?.more ?? 0)) main = { name, other, more };
  }
  return main;
}

type Overrun = Pick<LongExecution, 'file' | 'seconds'>;

/** The file of a span that exceeded its estimate most, if by at least half of a delay. */
export function overrunFile({ files: indices, seconds }: Span, { estimates }: TimelineFiles, delay: number): Overrun | null {
  let most = MAIN_PART * delay;
  let worst: Overrun | null = null;
  for (const [i, file] of indices.entries()) {
    const [time, estimate] = [seconds[i] ?? null, estimates[file] ?? null];
    if (time === null || estimate === null || time <= estimate || time - estimate < most) continue;
    most = time - estimate;
    worst = { file, seconds: time };
  }
  return worst;
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
  return overrunFile(last.lane.spans.at(-1)!, timeline, last.late)?.file ?? null;
}
