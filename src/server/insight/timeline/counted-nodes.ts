import type { NodeLane, Timeline } from './timeline.js';

/** The nodes that a build had: those of a queue that came, because `node_total` is the most that may come; else, or if none came, all. */
export function countedNodes({ kind, nodes }: Pick<Timeline, 'kind' | 'nodes'>): readonly NodeLane[] {
  const came = nodes.filter(({ start }) => start !== null);
  return kind === 'queue' && came.length > 0 ? came : nodes;
}
