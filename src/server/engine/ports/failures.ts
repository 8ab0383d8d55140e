import type { Soon } from '../../../base/soon.js';
import type { Build } from './builds.js';
import type { Millis } from './store.js';

/** What failed in builds. Most builds have no record: passes are not stored. */
export interface Failures {
  /** Writes what failed in a build, in place of what is written; null: nothing. Does nothing when the build has expired. */
  put(build: Build, failures: BuildFailures | null): Promise<void>;
  /** What failed in a build; null: nothing is written. */
  of(build: Build): Soon<BuildFailures | null>;
  /** Up to `limit` builds of a project in which something failed, the last created first. A record expires with its build. */
  newest(project: number, limit: number): Soon<FailedBuild[]>;
}

export interface FailedBuild {
  build: Build;
  failures: BuildFailures;
}

/** What failed in the CI runs of a build. */
export interface BuildFailures {
  /** When the newest CI run of the build began. */
  at: Millis;
  /** Files that failed together. This tells something about the node or the CI run: it counts as a failure of none of them. */
  outages: Outage[];
  files: FileFailure[];
}

export interface Outage {
  /** The node on which the files failed; null: on all nodes together. */
  node_index: number | null;
  /** How many files failed. */
  files: number;
}

/** A file that failed in a build. */
export interface FileFailure {
  /** The number of its recorded path, which may be that of a piece. */
  path: number;
  /** It also passed in this build, with the same list, tree and keys. Otherwise it never passed: nothing tells whether it would. */
  isFlaky: boolean;
  /** The node on which it first failed. */
  node_index: number;
  /** The number of the path that ran just before it there, in the same batch of a queue; null: none, or it is not known. */
  before: number | null;
  /** How many times as long it took when it failed as when it passed in this build; null: it is not known. */
  slowdown: number | null;
  /** The first of its test cases that failed. Empty: its client told none. */
  cases: string[];
  /** Seconds that nodes ran again because of it. */
  seconds: number;
  /** Seconds by which the build ended later because of it. */
  later: number;
}
