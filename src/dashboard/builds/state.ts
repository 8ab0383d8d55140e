import type { MinutesAnswer } from '../../engine/insight/minutes/minutes-answer.js';
import type { BuildLine, BuildLineSummary } from '../../engine/insight/trends/trends-answer.js';
import { commitOf, inSentence } from '../text/in-sentence.js';

/**
 * How a build ended, by what matters most: nobody knows whether `missing` files fail, nor those of a `cancelled` build. `recorded`: its clients do not say whether files failed.
 * `unplanned`: nobody knows whether files are missing. `unknown`: nothing is known yet.
 */
export type BuildState = 'running' | 'cancelled' | 'missing' | 'failed' | 'complete' | 'recorded' | 'unplanned' | 'unknown';

/** How a state is drawn. */
export const SHAPES: Record<BuildState, string> = {
  running: '◌',
  cancelled: '⊘',
  missing: '▲',
  failed: '✕',
  complete: '✓',
  recorded: '○',
  unplanned: '?',
  unknown: '·',
};

/** Returns the state of a build; without a summary it is unknown. */
export function buildState({ is_running, is_cancelled, summary }: Pick<BuildLine, 'is_running' | 'is_cancelled' | 'summary'>): BuildState {
  if (is_running) return 'running';
  if (is_cancelled) return 'cancelled';
  return summary ? endedState(summary) : 'unknown';
}

/** Returns the state of a build that has ended. */
export function endedState({ kind, missing, failed }: Pick<BuildLineSummary, 'kind' | 'missing' | 'failed'>): BuildState {
  if (missing > 0) return 'missing';
  if (failed !== null && failed > 0) return 'failed';
  if (kind === 'recordings') return 'unplanned';
  return failed === null ? 'recorded' : 'complete';
}

/** Returns the state of a build by where its minutes went. */
export function minutesState({ is_running, is_cancelled, kind, missing_count, failed_count }: MinutesAnswer): BuildState {
  if (is_cancelled) return 'cancelled';
  return is_running ? 'running' : endedState({ kind, missing: missing_count, failed: failed_count });
}

/** A build by its branch and commit: `main 4d5e6f7a`. */
export function buildName({ branch, commit_hash }: Pick<BuildLine, 'branch' | 'commit_hash'>): string {
  return `${inSentence(branch)} ${commitOf(commit_hash)}`;
}
