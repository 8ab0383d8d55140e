import type { BuildKey } from '../../api/messages/build-key.js';
import type { MaskedPeople } from '../../api/messages/people.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';

/**
 * Every record on disk but the journal (journal.ts, of the engine's Batch), recorded runs (subset-codec.ts) and timings
 * (timing-codec.ts). Edit rule: a changed shape gets a new `v` and a
 * reader for the old one, or STORE_VERSION is raised and older folders are refused.
 */

/** Milliseconds since 1970, as every time in the store. */
export type Millis = number;

export interface ProjectRecord {
  v: 1;
  name: string;
  created_at: Millis;
  /** The branch that others start from, as far as recorded builds tell; null before the first. */
  default_branch: string | null;
  /** Whether a path that is a test case inside a file was ever recorded. */
  has_test_cases: boolean;
}

export interface TokenRecord {
  v: 1;
  project: number;
  /** SHA-256 of the token, hex. */
  hash: string;
  created_at: Millis;
  revoked_at: Millis | null;
}

export interface BuildRecord extends BuildKey {
  v: 1;
  /** A uuid: what the API calls it. */
  id: string;
  project: number;
  created_at: Millis;
  /** Moves with each subset. */
  updated_at: Millis;
  /** The ordinal of the last recorded run (see subset-codec.ts); missing in records of store version 6 and below. */
  recorded?: number;
  subsets: number;
  /** Entries of test_files over all subsets. */
  test_files: number;
  /** Its places in buildIndex, by filter. */
  places: number[];
}

/** How many builds a filter finds, and the place of the next one. */
export type BuildCountRecord = [count: number, next: number];

/** A run of a node that was recorded, counted from 1. */
export type RunKey = [build: number, node_index: number, run: number];

export interface ForecastRecord extends Forecast {
  v: 1;
}

/** A build distribution: which node runs which test files. What each node runs lies in `blobs`. */
export interface SplitRecord {
  v: 1;
  id: string;
  node_total: number;
  people: MaskedPeople;
  created_at: Millis;
  /** How many runs of its build were recorded before it was made; missing below store version 7. */
  runs_before?: number;
  /** The list of test files that it was made of; missing below store version 7. */
  list?: ListRecord;
  /** How a node's list differed from `list`; missing: no node sent another one. */
  other_list?: string;
  /** Renewed while it is in use: it expires by this time. */
  used_at: Millis;
}

/** When a CI build first asked for a fixed split, how many runs of the build were recorded before that, and `other_list` as above. Below store version 7 only the time. */
export type SplitRunRecord = { at: Millis; runs_before: number; other_list?: string } | Millis;

/** Identifies a list of test files. */
export interface ListRecord {
  /** See list-digest.ts. */
  digest: string;
  test_files: number;
}

/** A queue as it was created. Its test files lie in `blobs`, what was handed out in `batches`, at first in `journalTurns`. */
export interface QueueRecord {
  v: 1;
  /** Its name in answers, the same for all nodes of its build. */
  name: string;
  node_total: number;
  /** Most of its files were never measured. */
  guessed: boolean;
  /** It repeats an earlier queue: every node that starts gets first what it was handed there. */
  repeats: boolean;
  /** When it began to repeat; `created_at` and `runs_before` are those of the earlier queue. */
  copied_at?: Millis;
  /** How many runs of its build were recorded before it began to repeat. */
  copied_runs_before?: number;
  people: MaskedPeople;
  created_at: Millis;
  /** How many runs of its build were recorded before it was made; missing below store version 7. */
  runs_before?: number;
  /** The list of test files that it was made of; missing below store version 7. */
  list?: ListRecord;
  /** How a node's list differed from `list`; missing: no node sent another one. */
  other_list?: string;
  /** Renewed while it is in use: it expires by this time. */
  used_at: Millis;
  /** Its key in queuesOfBuild. */
  build: string;
}
