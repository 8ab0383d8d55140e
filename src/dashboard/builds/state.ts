import type { BuildLine } from '../../engine/insight/trends/trends-answer.js';

/** How a build ended, by what matters most: nobody knows whether `missing` files fail. */
export type BuildState = 'running' | 'missing' | 'failed' | 'complete' | 'unknown';

/** Returns the state of a build; without a summary it is unknown. */
export function buildState({ is_running, summary }: Pick<BuildLine, 'is_running' | 'summary'>): BuildState {
  if (is_running) return 'running';
  if (!summary) return 'unknown';
  if (summary.missing > 0) return 'missing';
  return (summary.failed ?? 0) > 0 ? 'failed' : 'complete';
}
