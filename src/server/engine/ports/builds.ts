import type { Soon } from '../../../base/soon.js';
import type { PieceName } from '../../../protocol/piece-path.js';
import type { BuildFilter, BuildKey } from '../keys.js';
import type { Millis } from './store.js';

/** Builds and their recorded runs. */
export interface Builds {
  /** The build of a project by its id (a UUID in lower case). */
  get(project: number, id: string): Soon<Build | null>;
  find(project: number, key: BuildKey): Soon<Build | null>;
  /** A part of the builds that a filter finds, newest first. */
  list(project: number, filter: BuildFilter, part: ListPart): Soon<Build[]>;
  /** Counts the builds that a filter finds. */
  count(project: number, filter: BuildFilter): Soon<number>;
  /** Up to `limit` builds of all projects whose numbers are at least `from`, in the order of their numbers. */
  all(from: number, limit: number): Soon<Build[]>;
  /** The heads of a build's runs, by node and in the order of recording; with a node only those of that node. */
  runs(build: number, node_index?: number): Soon<RunHead[]>;
  /** A run with its test files from one index to another; null: it expired. */
  run(build: number, run: Pick<RunHead, 'node_index' | 'run'>, from?: number, to?: number): Soon<Run | null>;
  /** A run by the numbers of its paths, which are cheaper than the paths where many runs are read; null: it expired. */
  times(build: number, run: Pick<RunHead, 'node_index' | 'run'>): Soon<RunTimes | null>;
  /** The path with a number, and the number of a path; null: the project has not recorded it. */
  path(number: number): Soon<string>;
  pathNumber(project: number, path: string): Soon<number | null>;
  /** The pieces that were recorded of a file, or with null of all files. */
  pieces(project: number, file: string | null): Soon<RecordedPiece[]>;
}

/** A part of a list of builds. */
export interface ListPart {
  /** Only builds with lower numbers; missing or null: all. */
  before?: number | null;
  /** Number of these to skip. */
  offset?: number;
  limit: number;
}

/** A piece of a file, and the number of its path. */
export interface RecordedPiece extends PieceName {
  path: number;
}

export interface Build extends BuildKey {
  /** Its id in the API, a UUID. */
  id: string;
  /** Its number in the store. Builds created later have greater numbers. */
  number: number;
  project: number;
  created_at: Millis;
  /** When its last run was recorded. */
  updated_at: Millis;
  /** The ordinal of its last run: how many runs were ever recorded, expired ones included. */
  recorded: number;
  /** Number of runs of the build. */
  subsets: number;
  /** Number of test files in all runs of the build. */
  test_files: number;
}

/** A recorded run of a node, without its test files. */
export interface RunHead {
  node_index: number;
  /** Counts the runs of the node in this build, from 1. */
  run: number;
  /** A UUID. */
  id: string;
  created_at: Millis;
  /** Its number among the runs of its build, from 1, never reused. */
  ordinal: number;
  /** shortDigest of its ci_build_id; 0: the client named none. */
  ci_run: number;
  /** When its node asked for its part of a split; null: it is not known. */
  asked_at: Millis | null;
  /** Its client said of each of its files, of which it has some, that no test of it ran. */
  has_no_test: boolean;
  /** Number of test files of the whole run. */
  test_files: number;
}

export interface Run extends RunHead {
  paths: string[];
  /** By path; 0: the file was scheduled, not measured. */
  seconds: Float64Array;
  /** By path, see outcomeOf in test-file.ts. */
  outcomes: Uint8Array;
}

export interface RunTimes {
  paths: Uint32Array;
  /** By path; 0: the file was scheduled, not measured. */
  seconds: Float64Array;
  /** By path, see outcomeOf in test-file.ts. */
  outcomes: Uint8Array;
}
