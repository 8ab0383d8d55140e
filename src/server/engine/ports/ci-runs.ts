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
  /** Up to `limit` CI runs of a project whose first node that told a tree told this one, newest first. */
  ofTree(project: number, tree: string, limit: number): Soon<CiRun[]>;
  /**
   * Notes what nodes told of themselves, each node once: the address of its job in place of an earlier one, its checkout and command beside earlier
   * ones (see `joinCheckouts` and `joinCommands`), and the templates and the tree if the CI run has none. Does nothing for what is noted, and for CI
   * runs that have expired.
   */
  noteNodes(told: readonly NodeNote[]): Promise<void>;
  /** What the nodes of a CI run told, by node. */
  nodes(id: string): Soon<NotedNode[]>;
  /**
   * Notes a CI run that another one has proved, and counts it on its day: once, as long as it is noted with one of the newest
   * `CI_RUNS_OF_TREE` of the tree. Does nothing when the CI run that proves it has expired, or has proved `SPARED_PER_CI_RUN`. Resolves with
   * whether it noted it.
   */
  noteSpared(by: CiRun, spared: SparedCiRun): Promise<boolean>;
  /** The CI runs that one has proved, in any order. */
  spared(id: string): Soon<SparedCiRun[]>;
}

/** A CI run that need not run its tests, or some of them, because another one has proved them. */
export interface SparedCiRun {
  commit_hash: string;
  branch: string;
  /** The id that the CI system gave it, cut to `limits.ciRunCharacters`. */
  ci_run: string;
  /** When it first asked. */
  asked_at: Millis;
  /** What these took in the CI runs that proved them, on all nodes. */
  seconds: number;
}

/** What a node told of itself with its first requests. Null: it told none. That is noted, too: a later process of the node may tell some. */
export interface ToldByNode {
  /** The addresses at which people find its work. */
  links: NodeLinks | null;
  checkout: Checkout | null;
  /** The digest of the command that runs its test files. No proof depends on it. */
  command: string | null;
}

export interface NodeLinks extends CiRunLinks {
  /** Null: it told none. */
  job_url: string | null;
}

/** What the tests of a node run on. */
export interface Checkout {
  /** The hash of a Git tree; null: it is not known. */
  tree: string | null;
  /** Why the files of the node may differ from the tree, or why it is not known; null: they are those of the tree. */
  doubt: string | null;
  /** Digests of what else its tests depend on, sorted. */
  keys: string[];
}

/** What a node of the CI run with an id told. */
export interface NodeNote extends ToldByNode {
  id: string;
  node_index: number;
}

export interface NotedNode {
  node_index: number;
  job_url: string | null;
  checkout: Checkout | null;
  /** The digest of its command; null: it told none, or its processes told different ones. */
  command: string | null;
}

/** Templates of addresses: see LINK_WORDS. Null: no node sent one. */
export interface CiRunLinks {
  commit_url: string | null;
  diff_url: string | null;
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
  /** The tree that a node told first; missing: none told one. */
  tree?: string;
}
