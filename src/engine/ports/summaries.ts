import type { Soon } from '../soon.js';
import type { Build } from './builds.js';
import type { Millis } from './store.js';

/** Summaries of builds, so that lists and trends need not read runs. Written some seconds after a run of the build was recorded. */
export interface Summaries {
  /** Null: none is written yet. It is out of date when its `recorded` is not that of the build. */
  get(build: number): Soon<Summary | null>;
  /** Writes the summary of a build, and counts it on its day instead of the one before. Does nothing when the build has expired. */
  put(build: Build, summary: Summary): Promise<void>;
  /**
   * The days (whole days since 1970, UTC) of a branch, or of all branches together (null), in order, both ends included. A day without
   * builds is left out. A build counts on the day on which its newest CI run began, until that day expires.
   */
  days(project: number, branch: string | null, from: number, to: number): Soon<DaySummary[]>;
}

/** Durations are milliseconds. It is about the newest CI run of the build. */
export interface Summary {
  /** `Build.recorded` when it was made. */
  recorded: number;
  kind: 'queue' | 'split' | 'recordings';
  started_at: Millis;
  /** Nodes were at work when it was made. */
  is_running: boolean;
  wall: number;
  floor: number;
  /** Milliseconds of wall time by part, in the order of PART_NAMES. */
  parts: number[];
  /** Node time: the number of nodes that started, times wall; and the part of it after the end of each node. */
  nodeTime: number;
  idleTime: number;
  /** The sum of the recorded times, each file once. */
  total: number;
  files: number;
  /** Files that failed when they last ran; null: the clients do not report it. */
  failed: number | null;
  /** Files that were planned and not recorded. */
  missing: number;
  /** The file that took longest. */
  longest: { path: string; milliseconds: number } | null;
  /** The file without which the build would have ended earlier; see `decidingFile` in insight/minutes/deciding-file.ts. Null: none stands out. */
  decided_by: string | null;
  /** The node that ended last, and how long after the one before. */
  last: { node_index: number; milliseconds: number } | null;
  /** By node: its duration relative to its estimates and to the other nodes, 1 as the others, in whole hundredths up to 655; 0: unknown. */
  slowness: number[];
  /** Wall time that other methods would have taken on the same recorded times; see insight/what-if/savings.ts. */
  baselines: { round_robin: number; by_name: number; one_at_a_time: number };
}

/** The builds of a day, added up. */
export interface DaySummary {
  day: number;
  builds: number;
  incomplete: number;
  withFailures: number;
  wall: number;
  floor: number;
  parts: number[];
  nodeTime: number;
  idleTime: number;
  baselines: { round_robin: number; by_name: number; one_at_a_time: number };
  /** See `savedTime` in insight/trends/summary.ts. */
  saved: number;
  /** How many builds had a wall time of about 1.05^bucket seconds, by bucket: for the median. */
  walls: Record<number, number>;
}
