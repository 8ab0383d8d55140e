import { shortened } from '../../base/shortened.js';
import type { Checkout } from '../../protocol/messages/parameters.js';
import { type NodeLinks, nodeLinks } from './links.js';
import { proofKeys } from './proof-keys.js';
import type { Environment } from './systems.js';
import { readTree } from './work-tree.js';

/** What a node tells of itself with its first requests. */
export type ToldByNode = NodeLinks & Checkout;

const DOUBT_CHARACTERS = 500;

/**
 * Finds out what a node tells. If Git fails, the tree is not known. Throws a UsageError if a text cannot be a proof key.
 * @param texts what else the tests depend on; undefined: each line of BALLAST_PROOF_KEYS
 * @param folder where the tests run
 */
export async function toldByNode(
  environment: Environment,
  texts: readonly string[] = proofKeyTexts(environment),
  folder = '.',
): Promise<ToldByNode> {
  const state = await readTree(folder, environment);
  return {
    ...nodeLinks(environment),
    ...(state.tree !== null && { tree: state.tree }),
    ...(state.why !== null && { tree_doubt: shortened(state.why, DOUBT_CHARACTERS) }),
    proof_keys: proofKeys(texts, state.tree === null ? '' : state.folder),
  };
}

/** The texts of keys in BALLAST_PROOF_KEYS, one a line. */
export function proofKeyTexts({ BALLAST_PROOF_KEYS = '' }: Environment): string[] {
  const lines = BALLAST_PROOF_KEYS.split('\n').map(line => line.trim());
  return lines.filter(line => line !== '');
}
