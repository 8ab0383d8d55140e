import type { Soon } from '../../../base/soon.js';
import type { PartName } from '../../../protocol/answers/minutes.js';
import type { BuildLineSummary } from '../../../protocol/answers/trends.js';
import type { WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import type { BuildState } from '../../../protocol/build-state.js';
import type { JobTimes } from '../days/job-times.js';
import type { KeptJudgement } from '../proof/judgement.js';
import type { Build } from './builds.js';
import type { CiRun } from './ci-runs.js';
import type { Millis } from './store.js';

/** Summaries of builds, so that lists and trends need not read runs. Written some seconds after a run of the build was recorded. */
export interface Summaries {
  /** Null: none is written yet. It is out of date when its `recorded` is not that of the build. */
  get(build: number): Soon<Summary | null>;
  /** The same of several builds, in one read. */
  ofBuilds(builds: readonly number[]): Soon<(Summary | null)[]>;
  /** Writes the summary of a build, and counts it on its day instead of the one before. Does nothing when the build has expired. */
  put(build: Build, summary: Summary): Promise<void>;
  /** The summary of a CI run that ended, and of whose build nothing was recorded; null: it has none. */
  ofUnrecorded(ciRun: CiRun): Soon<Summary | null>;
  /** Up to `limit` CI runs with such a summary that began in a time, newest first: from its beginning until before its end. */
  unrecorded(project: number, time: Period, limit: number): Soon<UnrecordedBuild[]>;
  /**
   * Writes the summary of a CI run of whose build nothing was recorded, and counts the build on its day. It replaces that of another CI run
   * of the build, until a run of the build is recorded. Does nothing when one was, or when the CI run has expired.
   */
  putUnrecorded(ciRun: CiRun, summary: Summary): Promise<void>;
  /**
   * The days (whole days since 1970, UTC) of a branch, or of all branches together (null), in order, both ends included. A day without
   * builds and without CI runs that a proof spared is left out. A build that has ended counts on the day on which its newest CI run began,
   * until that day expires.
   */
  days(project: number, branch: string | null, from: number, to: number): Soon<DaySummary[]>;
}

/** In milliseconds since 1970. */
export interface Period {
  from: Millis;
  before: Millis;
}

export interface UnrecordedBuild {
  ciRun: CiRun;
  summary: Summary;
}

/** The newest CI run of a build, summed up, and the jobs of all its CI runs. Durations are seconds, in whole milliseconds. */
export interface Summary {
  /** `Build.recorded` when it was made. */
  recorded: number;
  started_at: Millis;
  /** End of the build. `running`: nodes were at work when the summary was made. */
  state: BuildState;
  /** The part of the summary that a list of builds shows. */
  line: BuildLineSummary;
  /** The paths of the first of the `line.failed` files. */
  failed_files: string[];
  /** Wall time by part. */
  parts: Record<PartName, number>;
  /** The number of nodes that started, times the wall time; and the part of it after the end of each node. */
  node_seconds: number;
  idle_seconds: number;
  /** The jobs of all CI runs of the build, and the number of these. */
  jobs: JobTimes;
  ci_runs: number;
  /** The part of both that is not read again: that of the CI runs which began until a time. */
  settled: { to: Millis; ci_runs: number; jobs: JobTimes };
  /** Seconds that files took on all nodes that ran for the first time. */
  test_seconds: number;
  /** By node: its duration relative to its estimates and to the other nodes, in whole hundredths; null: unknown. */
  slowness: (number | null)[];
  /** Wall time that other methods would have taken on the same recorded times; see insight/what-if/savings.ts. */
  baselines: WhatIfAnswer['baselines'];
  /** Null: nobody will ask whether the CI run proves a tree. */
  judgement: KeptJudgement | null;
}

/** Reports whether a build needs another summary: it has none, runs were recorded later, or nodes were at work when it was made. */
export function isOutOfDate({ recorded }: Pick<Build, 'recorded'>, summary: Pick<Summary, 'recorded' | 'state'> | null): boolean {
  return summary === null || summary.recorded !== recorded || summary.state === 'running';
}

/** The builds of a day that have ended, and the CI runs that a proof spared. */
export interface DaySummary {
  day: number;
  sums: Record<DaySum, number>;
  /** The wall times of complete builds, and what the test files of each took, in milliseconds, ascending: at most `TIMES_PER_DAY`. */
  walls: number[];
  tests: number[];
  /** The jobs of all builds. */
  jobs: JobTimes;
}

/**
 * The sums of a day: numbers of builds, and of the CI runs of all of them, and durations of complete ones. `incomplete`: files are missing, and
 * the build was not `cancelled`. `unplanned`: nobody knows whether files are missing; such a build counts as complete, and saves nothing, unless
 * it is `partial`. `passed`: complete, and no file failed, as its clients report. `proved_runs`: CI runs that a proof spared, which are of
 * no build, and `proved_seconds`: what their tests would have taken on all nodes.
 */
export type DaySum =
  | 'builds'
  | 'incomplete'
  | 'cancelled'
  | 'unplanned'
  | 'partial'
  | 'with_failures'
  | 'passed'
  | 'ci_runs'
  | 'proved_runs'
  | 'proved_seconds'
  | 'wall'
  | 'floor'
  | 'saved'
  | 'node_seconds'
  | 'idle_seconds'
  | keyof Summary['baselines']
  | PartName;
