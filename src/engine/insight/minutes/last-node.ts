import type { NodeLane, Timeline } from '../timeline/timeline.js';

/** The node that ended last, among those that started. Durations are milliseconds. */
export interface LastNode {
  lane: NodeLane;
  /** The node that ended before it, and how much earlier. */
  before: NodeLane;
  late: number;
  /** The node that ended first, and how much earlier. */
  first: NodeLane;
  spread: number;
}

/** Null: fewer than two nodes started. */
export function lastNode({ nodes }: Pick<Timeline, 'nodes'>): LastNode | null {
  const ended = nodes.filter(({ end }) => end !== null).sort((a, b) => b.end! - a.end! || a.node_index - b.node_index);
  const [lane, before] = ended;
  if (!lane || !before) return null;
  const first = ended.at(-1)!;
  return { lane, before, late: lane.end! - before.end!, first, spread: lane.end! - first.end! };
}
