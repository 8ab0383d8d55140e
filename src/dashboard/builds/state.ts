import type { BuildLine } from '../../api/messages/insight/trends.js';

/** How a build ended, by what matters most: nobody knows whether `missing` files fail. */
export type BuildState = 'running' | 'missing' | 'failed' | 'complete' | 'unknown';

/** Returns the state of a build; without a summary it is unknown. */
export function buildState({ is_running, summary }: Pick<BuildLine, 'is_running' | 'summary'>): BuildState {
  if (is_running) return 'running';
  if (!summary) return 'unknown';
  if (summary.missing > 0) return 'missing';
  return (summary.failed ?? 0) > 0 ? 'failed' : 'complete';
}

/** Part of the floor above which the longest file decides: the other nodes have too little left to fill its time. */
const DECIDING_FILE = 0.5;
/** Part of the wall time by which the last node ends after the one before, so that it decides. */
const DECIDING_NODE = 0.01;

/** Returns what decided when a build ended; null: nothing stands out. */
export function whatDecided({
  summary,
}: Pick<BuildLine, 'summary'>): { kind: 'file'; path: string } | { kind: 'node'; node: number } | null {
  if (!summary) return null;
  const { longest, last, floor, wall } = summary;
  if (longest && longest.seconds > DECIDING_FILE * floor) return { kind: 'file', path: longest.path };
  return last && last.seconds > DECIDING_NODE * wall ? { kind: 'node', node: last.node_index } : null;
}
