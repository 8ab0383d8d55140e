import { digestOfList } from '../../protocol/list-digest.js';
import type { Environment } from '../ci/systems.js';
import { toldByNode } from '../ci/told-by-node.js';
import { parseProof, type ReceivedProof } from './answers.js';
import type { Api } from './api.js';
import { askAbout } from './completeness.js';

/** The age that a CI run may have to prove something, unless another one is given: 7 days. */
export const PROOF_MAX_AGE_SECONDS = 604_800;

export interface ProofOptions {
  environment: Environment;
  /** What else the tests depend on; undefined: each line of BALLAST_PROOF_KEYS. */
  proofKey?: readonly string[] | undefined;
  /** Seconds. */
  maxAge: number;
  flakyPasses: boolean;
}

/** A question whether test files are known to pass in a tree. */
export type ProofQuestion = Readonly<Record<string, string>>;

/** The question of the tree that is checked out here; `doubt`: why it cannot be asked. @param files sorted */
export async function proofQuestion(
  files: readonly string[],
  { environment, proofKey, maxAge, flakyPasses }: ProofOptions,
): Promise<ProofQuestion | { doubt: string }> {
  const { tree, tree_doubt, proof_keys = [] } = await toldByNode(environment, files, proofKey);
  if (tree === undefined) return { doubt: `the tree is not known: ${tree_doubt}` };
  if (tree_doubt !== undefined) return { doubt: `these files may differ from the tree: ${tree_doubt}` };
  return {
    tree,
    test_files_digest: digestOfList(files),
    proof_keys: proof_keys.join(),
    max_age: String(maxAge),
    flaky_passes: String(flakyPasses),
  };
}

export function askProof(api: Api, question: ProofQuestion): Promise<ReceivedProof> {
  return askAbout(api, '/v1/proofs', question, parseProof);
}
