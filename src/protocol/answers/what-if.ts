import type { Price } from '../project-settings.js';
import type { Count, Timestamp, Uuid } from '../scalars.js';
import type { BuildHead } from './build-head.js';

/** One number of nodes. Durations are seconds. */
export interface Variant {
  nodes: Count;
  wall: number;
  /** How long the jobs run: each from its set-up to the end of its own node. */
  job_seconds: number;
  /** Price of the jobs, with their set-up; null: the project has no price. */
  price: Price | null;
  floor: number;
  /** wall / floor */
  ratio: number;
  /** The longest file decides: other nodes wait for it. */
  bound_by_file: boolean;
  /** A real build had this number of nodes: its wall time. */
  measured: number | null;
}

/** Assumptions with which the variants were played. */
export interface Assumptions {
  mode: 'queue' | 'split';
  /** Seconds over which the nodes start. */
  start_spread: number;
  /** Seconds that a node loses between two batches. */
  pull_cost: number;
  /** Seconds that the job of a node takes before the node starts. They count in `job_seconds`. 0 as long as nobody stated them. */
  setup: number;
  /** `then`: planned with the estimates of that build; `now`: with those of today; `exact`: with the recorded times. */
  estimates: 'then' | 'now' | 'exact';
  /** Long files run in pieces, as `ballast queue --pieces` runs them. */
  in_pieces: boolean;
  /** Files that are cut by hand, and into how many pieces. `is_measured`: the pieces are its test cases, which were measured. */
  cut: { path: string; pieces: Count; is_measured: boolean }[];
  sentences: string[];
}

/** GET /v1/builds/:id/what_if */
export interface WhatIfAnswer extends BuildHead {
  assumptions: Assumptions;
  variants: Variant[];
  /**
   * More nodes than these bring little: 1 % more of them shortens the wall time, with the set-up of a job, by less than 0.5 %. The next
   * number that was tried is a fifth larger.
   */
  useful_nodes: Count;
  /** The longest file. Of a file in pieces, the longest piece on as many nodes as can be useful. */
  longest: { path: string; seconds: number } | null;
  /**
   * On as many nodes as the build had: how many files run in pieces, or would, and how many seconds sooner the build ends with them. Null:
   * no file can run in pieces, because no queue is played, or because the test cases of no long file are known.
   */
  pieces: { files: Count; saves: number } | null;
  /** Wall times of other methods on the same recorded times. */
  baselines: { round_robin: number; by_name: number; one_at_a_time: number };
  /**
   * Files worth cutting by hand, at most 10, and into how many pieces: their test cases, if these were measured. `saves`: how many seconds
   * sooner this build would have ended, the largest first. Empty if long files run in pieces.
   */
  worth_cutting: { path: string; seconds: number; pieces: Count; saves: number }[];
}

/** GET /v1/trends/node_counts: the last builds of a branch that ended complete, played with several numbers of nodes. */
export interface NodeCountsAnswer {
  branch: string;
  /** Seconds in which a build should end; null: no target is set. */
  target: number | null;
  /** The builds that were played, newest first, at most ten. `node_count`: see BuildHead. `wall`: what was measured on as many. */
  builds: { build_id: Uuid; commit_hash: string; at: Timestamp; node_count: Count; wall: number }[];
  /** By number of nodes, ascending. */
  counts: NodeCount[];
  /** Builds between these that were not played: incomplete, or with less than half of the files of the largest one. */
  left_out: Count;
  /** The most common `node_count` of these builds; null: there is none. */
  usual_nodes: Count | null;
  /**
   * The least number that was played with which nine of ten builds end within the target, or the usual one if that is enough and the least
   * costs hardly less; or else the number beyond which more bring little to the median build (see WhatIfAnswer.useful_nodes); null: no build
   * was played.
   */
  recommended: Count | null;
  /** From this number on the longest file decides when most of the builds end; null: with no number that was played. */
  bound: { nodes: Count; path: string } | null;
  /** What the recommended number brings, and in further sentences what it costs and why more bring little. */
  sentence: string;
  remarks: string[];
}

/** Times of the builds on a number of nodes. Durations are seconds. */
export interface NodeCount {
  nodes: Count;
  median_wall: number;
  /** Nine of ten builds take at most this. */
  p90_wall: number;
  /** The mean time of the jobs of a build (see Variant). */
  job_seconds: number;
  /** Mean price of the jobs of a build; null: the project has no price. */
  price: Price | null;
  /** Number of the builds that end within the target; null: none is set. */
  within: Count | null;
}

/**
 * POST /v1/plan: the same for a list of test files by today's estimates, or for the files of the newest build. A variant is the mean of
 * several plays, in which files deviate from their estimates as those of the newest build did.
 */
export interface PlanAnswer {
  assumptions: Assumptions;
  files: Count;
  unknown_files: Count;
  /** Sum of the estimates. */
  total: number;
  variants: Variant[];
  useful_nodes: Count;
  longest: { path: string; seconds: number } | null;
  /** With `within`: the least number of nodes that ends in time; null: none does. */
  nodes_within: Count | null;
}
