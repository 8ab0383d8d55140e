import type { BuildState } from '../build-state.js';
import type { Price } from '../project-settings.js';
import type { Count, Timestamp, Uuid } from '../scalars.js';
import type { BuildHead } from './build-head.js';

/** A build in a list. Durations are seconds. */
export interface BuildLine
  extends Pick<BuildHead, 'build_id' | 'ci_run_id' | 'ci_run' | 'commit_hash' | 'branch' | 'node_total' | 'is_running'> {
  /** End of the build; `unknown`: its summary is not written yet. */
  state: BuildState | 'unknown';
  /** When it was first recorded or, without a recording, when its CI run began: the order of the list. */
  created_at: Timestamp;
  /** When its newest CI run began, as far as it is known. */
  started_at: Timestamp;
  /** Null: the summary is not written yet. */
  summary: BuildLineSummary | null;
}

export interface BuildLineSummary {
  kind: 'queue' | 'split' | 'recordings';
  wall: number;
  floor: number;
  /** Idle part of the node time, from 0 to 1. */
  idle_share: number;
  files: Count;
  failed: Count | null;
  missing: Count;
  longest: { path: string; seconds: number } | null;
  /** The node that ended last, and how long after the one before. */
  last: { node_index: Count; seconds: number } | null;
  /** The file that decided when the build ended, or else the node that was late; null: nothing stands out, or the build did not end complete. */
  decided_by: { path: string } | { node_index: Count } | null;
  /** Wall time that the best of the other methods would have taken more; null: no plan is known, or the build did not end complete. */
  saved: number | null;
}

/**
 * GET /v1/build_summaries: builds, newest first. Running CI runs without a recording come first on the first page. Those that have ended
 * come by the time when they began, and neither `limit` nor `total` counts them.
 */
export interface BuildLines {
  builds: BuildLine[];
  /** Send it as `cursor` for the next page; null: this is the last one. */
  next: string | null;
  /** Number of builds that the filters branch, commit_hash and node_total find. */
  total: Count;
  /** With failed=true: builds are searched back to this time; null: to the first one. */
  searched_to: Timestamp | null;
  /** The names that the filters may mean if they find nothing; null: they find builds, or builds have each of their names. */
  similar: SimilarNames | null;
}

/** Newest first, at most 10 of each. Null: a build has the name that was asked for, or no name was. */
export interface SimilarNames {
  /** They contain the branch that was asked for. */
  branches: string[] | null;
  /** They begin with the commit hash that was asked for. */
  commit_hashes: string[] | null;
  /** Number of builds that were searched. */
  searched: Count;
}

/** GET /v1/trends/builds: one entry a day with builds, or a week, oldest first; or one of all days. */
export interface BuildTrend {
  /** Null: all branches. */
  branch: string | null;
  /** The first and the last day that were read, as 2026-11-22, UTC. */
  from: string;
  to: string;
  /** CI runs of these days that need not run their tests, because another one had proved their tree; and what that saved on all nodes. */
  proved_runs: Count;
  proved_seconds: number;
  days: DayTrend[];
}

/** All that follows `price` is about builds that ended without a missing file; null: there is none. */
export interface DayTrend {
  /** As 2026-11-22, UTC. */
  day: string;
  /** Builds that have ended. */
  builds: Count;
  /** Files are missing, and it was not cancelled. */
  incomplete: Count;
  cancelled: Count;
  /** Builds without a queue or a split: nobody knows whether files are missing. */
  unplanned: Count;
  with_failures: Count;
  /** All files of their plans were recorded, and none failed, as the clients report. */
  passed: Count;
  /** The first of these days on which a build ended, as 2026-11-22. */
  since: string;
  /**
   * The CI runs of all these builds, their jobs, and the time of these: from the first request to the end, each in whole seconds, and the
   * set-up that the settings of the project state.
   */
  ci_runs: Count;
  jobs: Count;
  job_seconds: number;
  /** Price of these jobs; null: the project has no price. */
  price: Price | null;
  /** Means over the builds. */
  wall: number | null;
  floor: number | null;
  median_wall: number | null;
  /** Of what the test files of a build took on all nodes, without those that ran again. */
  median_test_seconds: number | null;
  /** Idle part of the node time, from 0 to 1. */
  idle_share: number | null;
  parts: { name: string; seconds: number }[];
  /** Sums: wall time that each of the other methods would have taken more; `best` adds up that of the best one of each build. */
  saved: { round_robin: number; by_name: number; one_at_a_time: number; best: number };
  node_seconds: number;
}

/** GET /v1/trends/files: the files of a branch over its last builds. */
export interface FileTrends {
  branch: string;
  /** Number of builds that were read, and the time at which the first of them was recorded. */
  builds: Count;
  since: Timestamp | null;
  /** Sum of the estimates. */
  total: number;
  files: FileTrend[];
  file_count: Count;
  /** Number of builds that each file decided, most first. */
  decided: { path: string; builds: Count }[];
}

export interface FileTrend {
  path: string;
  /** Estimate of the next build; null: none of the last five builds measured the file. */
  estimate: number | null;
  /** The median of its times. */
  median: number;
  last: number;
  /** The usual deviation, as a factor of at least 1. */
  spread: number;
  /** Part of the sum of all estimates, from 0 to 1. */
  share: number;
  /** Builds that measured it. */
  builds: Count;
  /** Builds that it decided: it took longer than an even share, or made the last node late. */
  decided: Count;
  /** Null: its duration did not change. `factor`: after over before. `seconds`: by how much it grew. */
  change: { at: Timestamp; commit_hash: string; factor: number; seconds: number } | null;
  /** The last times, oldest first, at most 20; null: not measured in that build. */
  recent: (number | null)[];
}

/** GET /v1/trends/files/history: one file, oldest build first. */
export interface FileHistory {
  path: string;
  branch: string;
  /** Estimate of the next build; null: the file was never measured. */
  estimate: number | null;
  /** Of the points; null: there is none. */
  median: number | null;
  points: FilePoint[];
  changes: { at: Timestamp; build_id: Uuid; commit_hash: string; factor: number; before: number; after: number }[];
  /** Builds that it decided, newest first, and by how many seconds the last node was later than the one before. */
  decided: { build_id: Uuid; commit_hash: string; at: Timestamp; seconds: number }[];
  /** Builds in which it failed, newest first, also those that have no time of it; and how many builds tell its result. */
  failed: { build_id: Uuid; commit_hash: string; at: Timestamp; result: 'failed' | 'flaky' | 'muted' }[];
  results: Count;
  /** Seconds by which the last build that has ended did end sooner, or would have, with the file in pieces; null: it cannot be played. */
  cut_saves: number | null;
  /** That build, the pieces, and whether the file ran in pieces. */
  cut: { build_id: Uuid; pieces: Count; is_done: boolean } | null;
  /** Test cases that clients reported of the file, from which its pieces are made; null: none. */
  pieces: FilePieces | null;
}

export interface FilePieces {
  /** Number of its cases that ran the last time. */
  cases: Count;
  /** The test runner that selects these cases by name; null: none does. */
  runner: string | null;
  /** In how many pieces it ran the last time; null: it ran as a whole. */
  count: Count | null;
  /** No case that passes in the whole file failed the last time that the file ran in pieces. */
  is_proven: boolean;
  /** Null: it may be cut. */
  not_cut: NotCut | null;
}

/** Why a file is not cut again. */
export interface NotCut {
  /** `differs`: cases passed in the whole file, but not in a piece. `slow`: its pieces together took much longer than the file. */
  reason: 'differs' | 'slow';
  commit_hash: string;
  /** Of `differs`: the cases. */
  cases: string[];
  /** Of `slow`: what the pieces took together, and what the whole file takes. */
  pieces_seconds: number;
  file_seconds: number;
}

export interface FilePoint {
  build_id: Uuid;
  commit_hash: string;
  at: Timestamp;
  node_index: Count;
  seconds: number;
  /** The estimate before this build, with the range of two of three builds; null: none was measured before. */
  estimate: number | null;
  low: number | null;
  high: number | null;
  /**
   * In the newest CI run of the build. `flaky`: it failed in one of its CI runs, and passed when it ran again. `muted`: it failed, and the repository
   * mutes its failures. Null: not known, as until the summary of the build is written.
   */
  result: 'passed' | 'failed' | 'flaky' | 'muted' | null;
}

/** GET /v1/trends/nodes: the nodes of a branch over its last builds. */
export interface NodeTrends {
  branch: string | null;
  node_total: Count;
  builds: { build_id: Uuid; at: Timestamp; commit_hash: string }[];
  /** Builds among the last 100 that had other numbers of nodes. */
  left_out: Count;
  /** Their numbers of nodes, the smallest first. */
  other_node_totals: Count[];
  nodes: NodeTrend[];
}

export interface NodeTrend {
  node_index: Count;
  /** By build, oldest first: duration relative to its estimates and to the other nodes; null: unknown. */
  slowness: (number | null)[];
  median: number | null;
  /** Slow in more builds than chance explains: a slow runner, not a bad split. */
  is_slow: boolean;
  slow_builds: Count;
  /** Number of builds in which it ended last. */
  last_builds: Count;
}

/** GET /dashboard/projects: an overview of the projects of the session. Durations are seconds. */
export interface ProjectsAnswer {
  projects: ProjectOverview[];
}

export interface ProjectOverview {
  id: Count;
  name: string;
  /** It is the public side of a project: anyone may have written it. */
  is_public: boolean;
  default_branch: string | null;
  /** Builds that have ended. A build counts on the day (UTC) on which its newest CI run began. */
  builds_today: Count;
  incomplete_today: Count;
  cancelled_today: Count;
  /** See DayTrend. */
  unplanned_today: Count;
  with_failures_today: Count;
  passed_today: Count;
  /** As the list of builds has them. */
  running: Count;
  /** Of the last day in the last 30 on which a build ended without a missing file; null: there is none. */
  median_wall: number | null;
  idle_share: number | null;
  measured_day: string | null;
  /** Wall time that the best of the other methods would have taken more, in the last 30 days. */
  saved_30_days: number;
  /** Planned builds without a missing file, of which that is the sum. */
  builds_30_days: Count;
  /** The jobs of all builds that ended in the last 30 days; null: the project has no price. */
  cost_30_days: ({ price: Price } & Pick<DayTrend, 'since' | 'jobs' | 'ci_runs'>) | null;
  /** The last builds that have ended, oldest first. `id`: of the build, or of its CI run if nothing was recorded. */
  recent: ({ id: Uuid } & Pick<BuildLine, 'state'> & Pick<BuildLineSummary, 'wall' | 'floor' | 'failed' | 'missing'>)[];
}
