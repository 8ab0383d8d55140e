import type { BuildLine, BuildLineSummary } from '../../engine/insight/trends/trends-answer.js';

/**
 * How a build ended, by what matters most: nobody knows whether `missing` files fail. `recorded`: its clients do not say whether files failed.
 * `unplanned`: nobody knows whether files are missing. `unknown`: nothing is known yet.
 */
export type BuildState = 'running' | 'missing' | 'failed' | 'complete' | 'recorded' | 'unplanned' | 'unknown';

/** Returns the state of a build; without a summary it is unknown. */
export function buildState({ is_running, summary }: Pick<BuildLine, 'is_running' | 'summary'>): BuildState {
  if (is_running) return 'running';
  return summary ? endedState(summary) : 'unknown';
}

/** Returns the state of a build that has ended. */
export function endedState({ kind, missing, failed }: Pick<BuildLineSummary, 'kind' | 'missing' | 'failed'>): BuildState {
  if (missing > 0) return 'missing';
  if (failed !== null && failed > 0) return 'failed';
  if (kind === 'recordings') return 'unplanned';
  return failed === null ? 'recorded' : 'complete';
}
