import { shortened } from '../../base/shortened.js';
import type { Checkout } from '../../protocol/messages/parameters.js';
import { type NodeLinks, nodeLinks } from './links.js';
import { proofKeys } from './proof-keys.js';
import type { Environment } from './systems.js';
import { fileOutside, readTree } from './work-tree.js';

/** What a node tells of itself with its first requests. */
export type ToldByNode = NodeLinks & Checkout;

const DOUBT_CHARACTERS = 500;

/**
 * Finds out what a node tells. If Git fails, the tree is not known. Throws a UsageError if a text cannot be a proof key.
 * @param texts what else the tests depend on; undefined: each line of BALLAST_PROOF_KEYS
 * @param files all test files
 * @param folder where the tests run
 */
export async function toldByNode(
  environment: Environment,
  files: readonly string[],
  texts: readonly string[] = proofKeyTexts(environment),
  folder = '.',
): Promise<ToldByNode> {
  const state = await readTree(folder, environment);
  const outside = state.tree === null ? null : fileOutside(files, folder, state.folder);
  const why = state.why ?? (outside === null ? null : `${outside} is outside of the repository`);
  return {
    ...nodeLinks(environment),
    ...(state.tree !== null && { tree: state.tree }),
    ...(why !== null && { tree_doubt: shortened(why, DOUBT_CHARACTERS) }),
    proof_keys: proofKeys(texts, state.tree === null ? '' : state.folder),
  };
}

/** The texts of keys in BALLAST_PROOF_KEYS, one a line. */
export function proofKeyTexts({ BALLAST_PROOF_KEYS = '' }: Environment): string[] {
  const lines = BALLAST_PROOF_KEYS.split('\n').map(line => line.trim());
  return lines.filter(line => line !== '');
}
