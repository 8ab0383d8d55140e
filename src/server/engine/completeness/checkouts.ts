import { limits } from '../../../protocol/limits.js';
import type { CiRun, NotedNode } from '../ports/ci-runs.js';
import type { Store } from '../ports/store.js';
import type { CompletenessSubject } from './assigned.js';

/** A tree with what else tests depend on. */
export interface TreeAndKeys {
  tree: string;
  /** Sorted. */
  keys: readonly string[];
}

/** CI runs of one tree that are looked at, newest first: more than a tree has in practice. */
export const CI_RUNS_OF_TREE = 20;

/** What the nodes of a CI run told: those of its queue and of its split, if it has both, because the runs of both count for each. */
export async function nodesOf({ ciRuns }: Pick<Store, 'ciRuns'>, ciRun: CiRun): Promise<NotedNode[]> {
  const both = (await ciRuns.ofBuild(ciRun.project, ciRun)).filter(({ digest }) => digest === ciRun.digest);
  return (await Promise.all((both.length > 0 ? both : [ciRun]).map(({ id }) => ciRuns.nodes(id)))).flat();
}

/** Why the files of some node may not be those of a tree; null: they are. */
export function doubtOfNodes(nodes: readonly NotedNode[], tree: string): string | null {
  return nodes.map(node => doubtOf(node, tree)).find(text => text !== null) ?? null;
}

function doubtOf({ node_index, checkout }: NotedNode, tree: string): string | null {
  if (!checkout) return `node ${node_index} did not tell its tree`;
  if (checkout.tree === null) return `the tree of node ${node_index} is not known: ${checkout.doubt}`;
  if (checkout.tree !== tree) return `node ${node_index} ran on another tree, ${checkout.tree}`;
  return checkout.doubt === null ? null : `the files of node ${node_index} may differ from the tree: ${checkout.doubt}`;
}

/** The first node that ran on the tree, and with other keys; undefined: none did. */
export function nodeWithOtherKeys(nodes: readonly NotedNode[], { tree, keys }: TreeAndKeys): NotedNode | undefined {
  return nodes.find(({ checkout }) => checkout?.tree === tree && checkout.keys.join() !== keys.join());
}

/** Why the tree of some node that came is not known; null: it is. @param nodes what the nodes told */
export function silentNode(came: Iterable<number>, nodes: readonly NotedNode[]): string | null {
  const told = new Set(nodes.map(({ node_index }) => node_index));
  for (const index of came) if (!told.has(index)) return `node ${index} did not tell its tree`;
  return null;
}

/** Names a CI run for the gate; null: its id was cut, so the gate cannot find it. */
export function subjectOf({ project, kind, commit_hash, branch, node_total, ci_run }: CiRun): CompletenessSubject | null {
  if (ci_run.length >= limits.ciRunCharacters) return null;
  return { project, build: { commit_hash, branch, node_total }, [kind === 'queue' ? 'node_build_id' : 'ci_build_id']: ci_run };
}
