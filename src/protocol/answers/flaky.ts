import type { Price } from '../project-settings.js';
import type { Count, Timestamp, Uuid } from '../scalars.js';

/**
 * `suspected`: it was flaky at one commit. `flaky`: at several. `healing`: it was clean in a third of the builds that heal it, or more. `healed`: in
 * all of them. `failing`: it failed at the last two commits of the default branch, and did not pass there.
 */
export type FlakyState = 'suspected' | 'flaky' | 'healing' | 'healed' | 'failing';

/** GET /v1/flaky: files that failed and passed at the same commit, by what they cost. */
export interface FlakyAnswer {
  /** The oldest build with a failure that counts; null: none does. */
  since: Timestamp | null;
  /** False: the clients of the newest builds do not tell which files failed, so no file is known to be flaky. */
  tells_outcomes: boolean;
  /** What cost most comes first, healed files last. */
  files: FlakyFile[];
  /** Number of all such files. */
  file_count: Count;
  /** What flaky files cost in the last `days`. */
  recent: FlakyCost;
  /** Files that failed together, which tells nothing about them, the newest build first. */
  outages: FlakyOutage[];
}

/** What flaky files cost in the builds whose newest CI run began on one of these days (UTC), on all branches. */
export interface FlakyCost {
  days: Count;
  /** Builds in which a file was flaky. */
  builds: Count;
  /** Seconds that nodes ran again. */
  seconds: number;
  /** Seconds by which builds ended later. */
  later: number;
}

export interface FlakyFile {
  path: string;
  state: FlakyState;
  /** Builds in which it was flaky, and their commits. */
  flakes: Count;
  commits: Count;
  /** The part of the builds in which it is flaky, from 0 to 1, and the interval that has it with a probability of 90 %. */
  rate: number;
  low: number;
  high: number;
  /** Builds since it was last flaky, and how many of them heal it; null: it never was. */
  clean: { builds: Count; of: Count } | null;
  /** The first of the builds in a row in which it failed; null: it is not `failing`. */
  failing_since: FlakyBuild | null;
  /** Seconds that nodes ran again because of it. */
  seconds: number;
  /** What these cost; null: the project has no price. */
  cost: Price | null;
  /** Seconds by which builds ended later because of it. */
  later: number;
  /** The nodes on which it failed in builds in which it was flaky, at most 20. */
  nodes: Count[];
  /** How many times as long it took when it failed as when it passed: the median of its flakes. Null: it is not known. */
  slowdown: number | null;
  /** The file that most often ran just before it in its flakes, in the same batch, and in how many of them; null: none did in two. */
  before: { path: string; flakes: Count } | null;
  /** Its test cases that failed in its flakes, those that did most often first, at most 5. Empty: no client told them. */
  cases: FlakyCase[];
  /** The last build in which it was flaky, or in which it failed if it never was. */
  last: FlakyBuild;
}

/** A test case that failed when its file was flaky. It is counted as a file is. */
export interface FlakyCase extends Pick<FlakyFile, 'flakes' | 'commits' | 'rate' | 'low' | 'high'> {
  name: string;
  state: Exclude<FlakyState, 'failing'>;
}

export interface FlakyBuild {
  build_id: Uuid;
  commit_hash: string;
  branch: string;
  at: Timestamp;
}

export interface FlakyOutage extends FlakyBuild {
  /** The node on which the files failed; null: they failed on any nodes, and are more than a tenth of the files of a CI run. */
  node_index: Count | null;
  /** Number of files that failed. */
  files: Count;
}
