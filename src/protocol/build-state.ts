/**
 * End of a build, by what matters most: nobody knows whether `missing` files pass, nor those of a `cancelled` build. `partial`: no plan is known, and
 * some nodes recorded nothing. `unplanned`: no plan is known, and every node recorded files. `recorded`: every file of the plan was recorded, and the
 * clients do not say whether files failed. `complete`: every file was recorded, and none failed, besides those that
 * the repository mutes.
 */
export type EndedState = 'cancelled' | 'missing' | 'partial' | 'failed' | 'unplanned' | 'recorded' | 'complete';

/** `running`: nodes are at work. */
export type BuildState = 'running' | EndedState;

/** Known facts about the end of a CI run. */
export interface BuildEnd {
  /** See BuildHead. */
  kind: 'queue' | 'split' | 'recordings';
  isRunning: boolean;
  /** Every node that had begun and had not ended said that it was cancelled. */
  wasCancelled: boolean;
  /** Number of files that were planned, and not recorded. */
  missing: number;
  /** Number of files that failed when they last ran, without those that the repository mutes; null: the clients do not report it. */
  failed: number | null;
  /** True if every node recorded files. */
  hasEveryNode: boolean;
}

/** Returns how a build ended. Every list, page, sum and export asks this function, so that all of them agree. */
export function buildState({ kind, isRunning, wasCancelled, missing, failed, hasEveryNode }: BuildEnd): BuildState {
  if (isRunning) return 'running';
  if (missing > 0) return wasCancelled ? 'cancelled' : 'missing';
  if (kind === 'recordings' && !hasEveryNode) return 'partial';
  if (failed !== null && failed > 0) return 'failed';
  if (kind === 'recordings') return 'unplanned';
  return failed === null ? 'recorded' : 'complete';
}

/** Reports whether a build ended without files of its plan. */
export function missesFiles(state: BuildState): boolean {
  return state === 'cancelled' || state === 'missing';
}

/** Reports whether a build has ended, and neither a file nor, without a plan, a node is missing: then its times are those of a whole build. */
export function hasEndedComplete(state: BuildState | 'unknown'): boolean {
  return state === 'failed' || state === 'unplanned' || state === 'recorded' || state === 'complete';
}
