import type { NamedCiRun } from '../messages/build.js';
import type { Price } from '../project-settings.js';
import type { Count, Timestamp, Uuid } from '../scalars.js';
import type { BuildHead } from './build-head.js';
import type { ProvedPart } from './completeness.js';

/** GET /v1/builds/:id/minutes: where the wall time of a build went. Durations are seconds, in whole milliseconds. */
export interface MinutesAnswer extends BuildHead {
  /** From the start of the first node to the end of the last one. */
  wall: number;
  /** No plan with whole files could have ended sooner on these nodes: even share + longest file. */
  floor: number;
  /** The jobs of its nodes: several of a node that its CI system ran again. Their paid time is with set-up, in whole steps, and until now if it runs. */
  jobs: Count;
  paid_seconds: number;
  /** Price of these jobs; null: the project has no price. */
  price: Price | null;
  /** wall - floor */
  lost: number;
  /** The parts of the wall time: they add up to `wall`. */
  parts: MinutePartAnswer[];
  /** In a few sentences: what is missing, what failed, when the first failure was reported, which node ended last, what decided that, and how much time was lost. */
  verdict: string;
  /** The files that the verdict names. */
  verdict_paths: string[];
  /** Unknown facts of this build, and the assumptions in their place. */
  assumptions: string[];
  /**
   * Cost of a batch: by the recorded times of a queue that has ended, as a running queue had learned it at its last batch, or of a split as it is
   * known now; null: unknown.
   */
  cost: LearnedCost | null;
  nodes: NodeSummary[];
  /** The files that took longest, slowest first, at most 20. */
  slowest: SlowFile[];
  /**
   * Files and pieces that failed when they last ran, with the node that ran them, at most 1,000, and how many files these are; null: the clients do
   * not say which files failed.
   */
  failed: FailedFile[];
  failed_count: Count | null;
  /** Planned, and neither recorded nor reported as passed by a node that has recorded since: files and pieces, at most 1,000, and how many files these are. */
  missing: FileOfNode[];
  missing_count: Count;
  files: Count;
  /** Files that were recorded, or that a node reported to have run. */
  done_count: Count;
  /** The page of the commit; null, like the other addresses: it is not known. */
  commit_url: string | null;
  /** The page of what changed since `previous`. */
  diff_url: string | null;
  /** The newest build of the branch before this one that is of another commit; null: there is none. */
  previous: { build_id: Uuid; commit_hash: string } | null;
  /** The other CI runs of the build, newest first. */
  other_ci_runs: NamedCiRun[];
  /** What this CI run has proved. */
  spared: SparedCiRuns;
  /** The test files that its queue left out, because other CI runs had proved them; null: none. */
  proved: ProvedPart | null;
}

/** CI runs that need not run their tests, or some of them, because a CI run had shown that they pass in their tree. */
export interface SparedCiRuns {
  /** At most 1,000. */
  count: Count;
  /** What their tests would have taken on all nodes. */
  node_seconds: number;
  /** The newest, at most 20. `ci_run`: the id that the CI system gave it. */
  newest: { commit_hash: string; branch: string; ci_run: string; asked_at: Timestamp }[];
}

/** The parts of the wall time, in the order of `parts`. `even_share` and `longest_file` are the floor; the others are what was lost. */
export const PART_NAMES = [
  'even_share',
  'longest_file',
  'slow_nodes',
  'estimates',
  'late_starts',
  'unreported',
  'gaps',
  'repeats',
  'idle',
] as const;
export type PartName = (typeof PART_NAMES)[number];

/** The parts as people read them, alone and in a sentence: 12 s was lost to the late starts. */
export const PART_TITLES: Readonly<Record<PartName, string>> = {
  even_share: 'even share',
  longest_file: 'longest file',
  slow_nodes: 'slow nodes',
  estimates: 'wrong estimates',
  late_starts: 'late starts',
  unreported: 'time in no report',
  gaps: 'time between files',
  repeats: 'files that ran again',
  idle: 'wait for the last node',
};

/**
 * The wall time of a build times its nodes is the sum of what each node did in that time: it had not begun, ran files for the first time,
 * ran files again, did neither, or had ended.
 */
export const PART_DEFINITIONS: Readonly<Record<PartName, string>> = {
  even_share: 'the time of all files at the usual speed of the nodes, each file once, divided by the number of nodes',
  longest_file: 'how much longer than an even share the longest file takes; what other nodes lose in that time costs nothing',
  slow_nodes: 'how much longer slow nodes took for their files than usual nodes, and the wait of the others for them',
  estimates: 'the part of the wait for the last node that vanishes if the last batch of each node takes its estimated time',
  late_starts: 'the time before the first request of each node, and the wait for late nodes at the end',
  unreported: 'what files took besides the times in their reports, as far as it is known: imports, fixtures, compilation',
  gaps: 'the other time of nodes between files: the start and end of the test runner, the wait for the next batch',
  repeats: 'files that ran again, the files and the remaining time of lost nodes, and the wait for them',
  idle: 'the wait for the last node that no other part explains',
};

/**
 * Cost of a batch, in seconds: pull_cost + hidden for each file + slowdown for each second of its estimates (of a queue that has ended: of its
 * recorded times).
 */
export interface LearnedCost {
  /** The start of the test runner, and the pull. */
  pull_cost: number;
  /** Time that each file took besides the time of its tests. */
  hidden: number;
  slowdown: number;
}

export interface MinutePartAnswer {
  name: (typeof PART_NAMES)[number];
  seconds: number;
  /** The definition of the part, as a phrase. */
  definition: string;
  /** The nodes that caused it, with seconds of node time, the largest first. */
  nodes: { node_index: Count; seconds: number }[];
}

/** `node_index`: the node that had the file last; null: none. */
export interface FileOfNode {
  path: string;
  node_index: Count | null;
}

export interface FailedFile extends FileOfNode {
  /** The repository mutes each of its failures; missing: not so. */
  is_muted?: true;
  /** Of the first files: it was flaky in another build; missing: not so. */
  is_known_flaky?: true;
  /** Of the first files: a test case that failed, and how many more did; missing: no client told any of this CI run. */
  first_case?: { name: string; more: Count };
}

/** Seconds since the start of the build. */
export interface NodeSummary {
  node_index: Count;
  /** Null: it never started. */
  start: number | null;
  end: number | null;
  recorded: boolean;
  batches: Count;
  files: Count;
  /** Seconds of its files: as recorded, or else as expected. */
  busy: number;
  /** Time that its files took besides the times in their reports. */
  unreported: number;
  gaps: number;
  idle: number;
  repeats: number;
  /** Its duration relative to its estimates and to the other nodes; null: unknown. */
  slowness: number | null;
  /** Its CI system cancelled it, and it has not come back. */
  is_cancelled: boolean;
  /** The page of its CI job. */
  job_url: string | null;
}

export interface SlowFile {
  path: string;
  seconds: number;
  /** Null: it was not planned by estimates. */
  estimate: number | null;
  is_guess: boolean;
  node_index: Count;
}
