import type { Soon } from '../../../base/soon.js';
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
  /** The CI runs of a build, newest first, at most `CI_RUNS_PER_BUILD`. */
  ofBuild(project: number, build: BuildKey): Soon<CiRun[]>;
  /** The newest CI run of each build, in one read; null: the build has none. */
  newest(project: number, builds: readonly BuildKey[]): Soon<(CiRun | null)[]>;
  /**
   * Notes the addresses that nodes sent, each node once: that of a job in place of an earlier one, and the templates if the CI run has none.
   * Does nothing for those that are noted, and for CI runs that have expired.
   */
  noteLinks(sent: readonly NotedLinks[]): Promise<void>;
  /** The addresses of the jobs of a CI run, by node. */
  jobs(id: string): Soon<JobLink[]>;
}

/** The addresses at which people find the work of a node, as the node reported them. Null: it reported none. */
export interface NodeLinks extends CiRunLinks {
  job_url: string | null;
}

/** The addresses that a node of the CI run with an id sent. */
export interface NotedLinks extends NodeLinks {
  id: string;
  node_index: number;
}

/** Templates of addresses: see LINK_WORDS. */
export interface CiRunLinks {
  commit_url: string | null;
  diff_url: string | null;
}

export interface JobLink {
  node_index: number;
  url: string;
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
  /** Number of runs of its build that were recorded before. */
  runs_before: number;
  /** Missing: no node sent any. */
  links?: CiRunLinks;
}
