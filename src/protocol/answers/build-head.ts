import type { BuildState } from '../build-state.js';
import type { Count, Timestamp, Uuid } from '../scalars.js';

/** Header of a 304: the seconds since the answer was made that still holds. What nodes at work do has gone on for so long. */
export const AGE_HEADER = 'Ballast-Age';

/** The build, and the one of its CI runs, that an answer is about. */
export interface BuildHead {
  /** Null: nothing is recorded yet. */
  build_id: Uuid | null;
  /** The queue or the use of a split; null: only recordings are known. */
  ci_run_id: Uuid | null;
  /** The id that the CI system gave it. */
  ci_run: string | null;
  /** `recordings`: no queue and no split is known, only what was recorded. */
  kind: 'queue' | 'split' | 'recordings';
  commit_hash: string;
  branch: string;
  node_total: Count;
  /** The nodes that it had: of a queue those that came, unless none did, because `node_total` is the most that may come. */
  node_count: Count;
  started_at: Timestamp;
  ended_at: Timestamp;
  is_running: boolean;
  /**
   * End of the build. `cancelled`: files did not run, and each node that had begun and had not ended said that it was cancelled. Only Ballast's own
   * client says so.
   */
  state: BuildState;
}
