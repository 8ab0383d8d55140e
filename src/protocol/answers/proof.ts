import type { Count, Timestamp, Uuid } from '../scalars.js';

/** Tells whether a CI run has shown that all test files of a list pass in an exact tree. Any doubt is an answer that it has not. */
export interface ProofAnswer {
  about: AskedProof;
  is_proved: boolean;
  /** The first thing that speaks against it; null: it is proved. */
  reason: string | null;
  /** The CI run that proves it, or the one of this tree that came closest; null: there is none of this tree. */
  ci_run: ProvingCiRun | null;
  /** Of the keys that were asked about, those that this CI run does not have. */
  missing_keys: string[];
}

/** Subject of an answer: the project of the token, and the parameters of the request. */
export interface AskedProof {
  project: string;
  tree: string;
  test_files_digest: string;
  proof_keys: string;
  max_age: Count;
  flaky_passes: boolean;
  commit_hash: string | null;
  branch: string | null;
  ci_run: string | null;
  request_id: string | null;
}

export interface ProvingCiRun {
  ci_run_id: Uuid;
  /** The id that the CI system gave it. */
  ci_run: string;
  commit_hash: string;
  branch: string;
  started_at: Timestamp;
  /** The page of the CI run. */
  url: string;
  /** The number of nodes that came; null if the CI run was not looked at so closely. */
  nodes: Count | null;
  /** What the test files took on all nodes together, in seconds, also those that were left out, where they were proved; null likewise. */
  node_seconds: number | null;
  /** Test files in its list; null likewise. */
  test_files: Count | null;
  /** Test files and pieces of files whose tests were all skipped; null likewise. */
  skipped: Count | null;
  /** Those that passed only when they were tried again, at most 1,000; null likewise. */
  flaky: string[] | null;
}

/** The public keys of Ed25519 that check receipts, in PEM: first the one that signs now, then those before, newest first. */
export interface ReceiptKeysAnswer {
  public_keys: string[];
}
