import type { Soon } from '../../soon.js';
import type { BuildKey } from '../keys.js';
import type { Millis } from './store.js';

/**
 * The CI runs of builds: each queue, and each use of a split. They are noted when the queue is created, or when the first node of a
 * CI run gets its part of a split, so a CI run is known before anything is recorded.
 */
export interface CiRuns {
  /** The CI run with an id; null: the project has none. */
  get(project: number, id: string): Soon<CiRun | null>;
  /** Up to `limit` CI runs of a project that began before a time, newest first. */
  list(project: number, before: Millis, limit: number): Soon<CiRun[]>;
  /** The CI runs of a build, newest first, at most `limits.ciRunsPerBuild`. */
  ofBuild(project: number, build: BuildKey): Soon<CiRun[]>;
}

export interface CiRun extends BuildKey {
  /** A UUID: the id of its queue, or of its split if it is the first that uses it. */
  id: string;
  project: number;
  kind: 'queue' | 'split';
  /** The id of its queue or split. */
  plan: string;
  /** The id that the CI system gave it (node_build_id, test_queue_id or ci_build_id), cut to `limits.ciRunCharacters`. */
  ci_run: string;
  /** shortDigest of the whole id, as in RunHead. */
  digest: number;
  created_at: Millis;
  /** How many runs of its build were recorded before. */
  runs_before: number;
}
