import type { tags } from 'typia';
import type { limits } from '../limits.js';
import type { Text } from '../scalars.js';
import type { ListedTestFile, OptionalText, TestFileList } from './parameters.js';
import type { CiRunQuery } from './queries.js';

type Seconds = number & tags.Minimum<0> & tags.Maximum<typeof limits.playedSeconds>;
type Nodes = string & tags.MaxLength<typeof limits.textMaxCharacters>;

/** Query of GET /v1/builds/:id/what_if */
export interface WhatIfQuery extends CiRunQuery {
  /** A range such as `2..16` or a list such as `4,8,12`: at most 64 numbers from 1 to 1,000. Without it, numbers up to at least twice that of the build. */
  nodes?: Nodes;
  /** Without it, as the build. */
  mode?: 'queue' | 'split';
  /** Default: `then`, or `now` if most of these are guesses or only recordings are known of the build. */
  estimates?: 'then' | 'now' | 'exact';
  /** Seconds over which the nodes start. Without it, as observed. */
  start_spread?: Seconds;
  /** Seconds that a node loses with each batch. Without it, as observed. */
  pull_cost?: Seconds;
  /** Seconds that the job of a node takes before the node starts. They count in `job_seconds` and `useful_nodes`. Without it, the setting of the project, else nothing in `job_seconds` and 30 in `useful_nodes`. */
  setup?: Seconds;
  /** True if long files run in pieces of known test cases, as `ballast queue --pieces` runs them. Missing: as in the build. */
  in_pieces?: boolean;
  /** The path of a file to cut by hand. It may be repeated. Not together with `in_pieces`. */
  cut?: Text;
}

/** Query of GET /v1/trends/node_counts */
export interface NodeCountsQuery {
  /** Without it, the default branch. */
  branch?: OptionalText;
  /** Seconds in which a build should end. Without it, the target of the project. */
  target?: Seconds & tags.ExclusiveMinimum<0>;
  /** See WhatIfQuery. */
  mode?: 'queue' | 'split';
  in_pieces?: boolean;
}

/** POST /v1/plan */
export interface PlanMessage {
  branch: Text;
  /** See WhatIfQuery. With `within` and without `nodes`, 64 numbers from the least that could be enough. */
  nodes?: Nodes;
  /** Seconds of wall time in which the build should end. */
  within?: Seconds & tags.ExclusiveMinimum<0>;
  /** Default: queue. */
  mode: 'queue' | 'split';
  /** Seconds over which the nodes start. Without it, as in the newest build. */
  start_spread?: Seconds;
  /** Seconds that a node loses with each batch. Without it, as in the newest build. */
  pull_cost?: Seconds;
  /** See WhatIfQuery. */
  setup?: Seconds;
  /** Without it, the files of the newest build of the branch, else of the project. */
  test_files?: TestFileList<ListedTestFile>;
}
