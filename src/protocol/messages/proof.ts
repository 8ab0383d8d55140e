import type { tags } from 'typia';
import type { limits } from '../limits.js';
import type { Text } from '../scalars.js';
import type { GitHash, Sha256 } from './parameters.js';

/** Seconds. */
export type ProofAge = number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.proofMaxAgeSeconds>;

/** Query of GET /proofs */
export interface ProofQuery {
  /** The Git tree, in hex. */
  tree: GitHash;
  /** Of the list of test files, as in the first requests of nodes. */
  test_files_digest: Sha256;
  /** The keys as nodes send them, with a comma between two. Default: none. */
  proof_keys: string & tags.MaxLength<typeof limits.proofKeysMaxCharacters> & tags.Pattern<'^([0-9a-f]{64}(,[0-9a-f]{64})*)?$'>;
  /** The CI run began at most so many seconds ago. */
  max_age: ProofAge;
  /** A file may have passed only when it was tried again. Default: false. */
  flaky_passes: boolean;
  /** The CI run that asks: if it names itself with all three, and is proved, the CI run that proves it is noted to have spared it. */
  commit_hash?: Text;
  branch?: Text;
  ci_run?: Text;
  /** The answer repeats it, so that a client recognizes the answer to its request. */
  request_id?: Text;
}
