import type { Count, Timestamp, Uuid } from '../text.js';

/** Which build, and which of its CI runs, an answer is about. */
export interface BuildHead {
  /** Null: nothing is recorded yet. */
  build_id: Uuid | null;
  /** The queue or the use of a split; null: only recordings are known. */
  ci_run_id: Uuid | null;
  /** The id that the CI system gave it. */
  ci_run: string | null;
  kind: 'queue' | 'split' | 'recordings';
  commit_hash: string;
  branch: string;
  node_total: Count;
  started_at: Timestamp;
  ended_at: Timestamp;
  is_running: boolean;
}

/** GET /v1/builds/:id/minutes: where the wall time of a build went. Durations are seconds, in whole milliseconds. */
export interface MinutesAnswer extends BuildHead {
  /** From the start of the first node to the end of the last one. */
  wall: number;
  /** No plan with whole files could have ended sooner on these nodes: even share + longest file. */
  floor: number;
  /** wall - floor */
  lost: number;
  /** The parts of the wall time: they add up to `wall`. */
  parts: MinutePartAnswer[];
  /** In one or two sentences: who ended last, and what decided it. */
  verdict: string;
  /** What is not known of this build, and what is assumed instead. */
  assumptions: string[];
  nodes: NodeSummary[];
  /** The files that took longest, slowest first, at most 20. */
  slowest: SlowFile[];
  failed: string[];
  /** Planned and not recorded, at most 1,000, and how many. */
  missing: { path: string; node_index: Count | null }[];
  missing_count: Count;
  files: Count;
  /** The other CI runs of the build, newest first. */
  other_ci_runs: { ci_run_id: Uuid; ci_run: string; kind: 'queue' | 'split'; created_at: Timestamp }[];
}

export interface MinutePartAnswer {
  name: 'even_share' | 'longest_file' | 'slow_nodes' | 'estimates' | 'late_starts' | 'gaps' | 'repeats' | 'idle';
  seconds: number;
  /** The definition of the part, as a phrase. */
  definition: string;
  /** The nodes that caused it, with seconds of node time, the largest first. */
  nodes: { node_index: Count; seconds: number }[];
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
  /** Seconds of recorded tests. */
  busy: number;
  gaps: number;
  idle: number;
  repeats: number;
  /** Its duration relative to its estimates and to the other nodes; null: unknown. */
  slowness: number | null;
}

export interface SlowFile {
  path: string;
  seconds: number;
  /** Null: it was not planned by estimates. */
  estimate: number | null;
  is_guess: boolean;
  node_index: Count;
}
