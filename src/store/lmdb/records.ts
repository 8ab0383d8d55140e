import type { BuildKey } from '../../engine/keys.js';
import type { Token } from '../../engine/ports/access.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { QueueInfo } from '../../engine/ports/queues.js';
import type { Link, Password, Session } from '../../engine/ports/sign-ins.js';
import type { Split, SplitUse } from '../../engine/ports/splits.js';
import type { Millis } from '../../engine/ports/store.js';
import type { DaySummary, Summary } from '../../engine/ports/summaries.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';

/**
 * The records on disk, except batches (batch-codec.ts), recorded runs (subset-codec.ts) and timings (timing-codec.ts). When a shape changes, either it gets
 * a new `v` and a reader for the old one, or STORE_VERSION is raised.
 */

export interface ProjectRecord {
  v: 1;
  name: string;
  created_at: Millis;
  /** Derived from recorded builds, unless it is set; null before the first build. */
  default_branch: string | null;
  is_default_branch_set: boolean;
  /** When the project was deleted. The record goes with the last of what the project recorded. */
  deleted_at?: Millis;
  /** Whether a path that is a test case inside a file was ever recorded. */
  has_test_cases: boolean;
}

export interface TokenRecord extends Token {
  v: 1;
}

export interface LinkRecord extends Link {
  v: 1;
}

export interface SessionRecord extends Session {
  v: 1;
}

export interface PasswordRecord extends Password {
  v: 1;
}

export interface BuildRecord extends BuildKey {
  v: 1;
  /** Its id in the API, a UUID. */
  id: string;
  project: number;
  created_at: Millis;
  /** Moves with each subset. */
  updated_at: Millis;
  /** The ordinal of the last recorded run (see subset-codec.ts). */
  recorded: number;
  subsets: number;
  /** Entries of test_files over all subsets. */
  test_files: number;
  /** Its places by filter, see build-index.ts. */
  places: number[];
}

/** How many builds a filter finds, the place of the next one, and, if there was only one ever, its number. */
export type BuildCountRecord = [count: number, next: number, first?: number];

/** A run of a node that was recorded, counted from 1. */
export type RunKey = [build: number, node_index: number, run: number];

/** How far the sweep has looked at the runs of a build, and when the oldest of those that it kept was recorded. */
export interface ExpiryProgress {
  after: [node_index: number, run: number] | null;
  oldest: Millis | null;
}

/** Runs that one transaction put, whose times are not in `timings` yet. */
export type PendingRunsRecord = RunKey[];

export interface ForecastRecord extends Forecast {
  v: 1;
}

/** A split. Its files, and the basis of its estimates, are in `blobs`. */
export interface SplitRecord extends Split {
  v: 1;
}

/** When a CI build first asked for a fixed split, how many runs of the build were recorded before that, and `other_list` as above. */
export type SplitRunRecord = SplitUse;

/** A queue as it was created. Its files are in `blobs`. Its batches are in the journal, a second later in `batches`. */
export interface QueueRecord extends Omit<QueueInfo, 'id'> {
  v: 1;
  /** Most files were never measured. */
  guessed: boolean;
  /** Its key in queuesOfBuild. */
  build: string;
}

export type CiRunKey = [project: number, created_at: Millis, id: string];

/** A CI run, without what its key has. */
export interface CiRunRecord extends Omit<CiRun, 'id' | 'project' | 'created_at'> {
  v: 1;
}

export interface SummaryRecord extends Summary {
  v: 1;
}

export interface DayRecord extends DaySummary {
  v: 1;
}

export function withoutVersion<T extends { v: 1 }>({ v: _, ...record }: T): Omit<T, 'v'> {
  return record;
}

export function toForecast(record: ForecastRecord | undefined): Forecast | null {
  return record ? withoutVersion(record) : null;
}
