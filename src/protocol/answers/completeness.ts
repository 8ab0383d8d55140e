import type { Count, Text, Timestamp, Uuid } from '../scalars.js';

/** Tells whether every test file of a build was run and recorded. Each list has at most 1,000 entries. */
export interface CompletenessAnswer {
  about: AnsweredSubject;
  is_complete: boolean;
  /** Null: the build has neither. */
  kind: 'queue' | 'split' | null;
  test_files: Count;
  /** Those that were recorded as run, or with a time of 0 only if these count, too (allow_empty). */
  recorded: Count;
  /** The files of the list that the queue left out; missing: none. They are not among `test_files`. */
  proved?: ProvedPart;
  /** Test files that failed, each of whose failures the repository mutes, with a node that told it, and how many these are; missing: none. */
  muted?: { path: string; node_index: Count }[];
  muted_count?: Count;
  /** True if files were recorded, and their clients said of each that no test of it ran. */
  no_test_ran: boolean;
  /** Why the build is not complete, and what to do. Empty if it is complete. */
  errors: string[];
  /**
   * The only reason is the files in handed_out_not_recorded and recorded_without_time, all of which are listed, and their nodes recorded
   * others: they may have nothing to run.
   */
  may_be_empty: boolean;
  /** Problems that do not make the build incomplete. */
  warnings: string[];
  /** Test files that are still in the queue. */
  never_handed_out: { path: string }[];
  handed_out_not_recorded: HandedOut[];
  /** Test files that their node reported as run, without recording them. */
  ran_not_recorded: { path: string; node_index: Count }[];
  /** Test files that went to another node, because theirs was silent for too long, was cancelled or restarted. */
  handed_on: { path: string; node_index: Count }[];
  /**
   * Test files that failed, and passed in a retry; missing: none. `node_indexes`: of the nodes on which they failed. `is_new`: the default branch
   * never measured the file; missing: the project has no default branch.
   */
  flaky?: { path: string; node_indexes: Count[]; is_new?: boolean }[];
  /** With `flaky`: the default branch of the project; missing: it has none. */
  default_branch?: Text;
  /** Test files that several nodes recorded, without a retry. */
  recorded_twice: { path: string; node_indexes: Count[] }[];
  /** Test files recorded by a node that did not get them, such as one in fallback. */
  recorded_not_handed_out: { path: string; node_index: Count }[];
  /** Test files recorded only with time 0, and not as run: scheduled, and perhaps not run. */
  recorded_without_time: { path: string; node_index: Count }[];
  /** Nodes that got files of the queue or recorded something, an empty run included. */
  nodes_came: Count[];
  /** The others. The nodes of a queue are at most `node_total`, so none of them is missing. */
  nodes_never_came: Count[];
}

/** Subject of an answer: the project of the token, and the parameters of the request. */
export interface AnsweredSubject {
  project: string;
  node_total: number | null;
  node_build_id: string | null;
  ci_build_id: string | null;
  allow_empty: boolean;
  request_id: string | null;
  branch: Text;
  commit_hash: Text;
}

/** Test files that a queue left out, because other CI runs had proved them. */
export interface ProvedPart {
  test_files: Count;
  /** Newest first. */
  ci_runs: { ci_run_id: Uuid; ci_run: string }[];
}

export interface HandedOut {
  path: string;
  node_index: Count;
  /** Null for a split, which is planned in advance. */
  handed_out_at: Timestamp | null;
}
