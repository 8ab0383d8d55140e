import { agree, pluralize } from '../../../base/plural.js';
import { limits } from '../../../protocol/limits.js';
import { compareCiRun } from '../completeness/completeness.js';
import type { CiRun, NotedNode } from '../ports/ci-runs.js';
import type { Millis, Store } from '../ports/store.js';
import { type Outcomes, outcomesOf } from './outcomes.js';

/** What is to be proved: that these files passed in this tree. */
export interface ProofQuestion {
  project: number;
  tree: string;
  /** See list-digest.ts. */
  listDigest: string;
  /** Sorted. */
  keys: readonly string[];
  /** The CI run must have begun after this time. */
  since: Millis;
  /** A file may have passed only when it was tried again. */
  flakyPasses: boolean;
}

export interface Proof {
  /** The first thing that speaks against it; null: it is proved. */
  reason: string | null;
  /** The CI run that proves it, or the one that came closest; null: there is none of the tree. */
  ciRun: CiRun | null;
  /** Null: it was not looked at so closely. */
  seen: Seen | null;
  /** The keys of the question that the CI run does not have. */
  missingKeys: string[];
}

/** The nodes and files of a CI run that were looked at. */
interface Seen {
  nodes: number;
  outcomes: Outcomes;
}

/** CI runs of one tree that are looked at, newest first: more than a tree has in practice. */
const MOST_CI_RUNS = 100;
/** Of these, so many as only their files can speak against are compared file by file. */
const MOST_COMPARED = 20;

/** Finds a CI run that proves what is asked, or the first thing that speaks against the one that comes closest. Any doubt speaks against it. */
export async function prove(store: Store, question: ProofQuestion): Promise<Proof> {
  const ciRuns = await store.ciRuns.ofTree(question.project, question.tree, MOST_CI_RUNS);
  if (ciRuns.length === 0) return against('no CI run of this tree is known', null);
  let closest: Finding | null = null;
  let compared = 0;
  for (const ciRun of ciRuns) {
    const finding = await findingOf(store, question, ciRun, compared < MOST_COMPARED);
    if (finding.steps >= COMPARED) compared += 1;
    if (finding.reason === null) return finding;
    if (!closest || finding.steps > closest.steps) closest = finding;
  }
  return closest!;
}

/** What speaks against a CI run, and after how many steps: the more, the closer it came. */
interface Finding extends Proof {
  steps: number;
}

const COMPARED = 4;

function against(reason: string, ciRun: CiRun | null, more: Partial<Finding> = {}): Finding {
  return { reason, ciRun, seen: null, missingKeys: [], steps: 0, ...more };
}

async function findingOf(store: Store, question: ProofQuestion, ciRun: CiRun, mayCompare: boolean): Promise<Finding> {
  const { tree, keys, since } = question;
  if (ciRun.created_at <= since) return against('it began too long ago', ciRun);
  const nodes = await nodesOf(store, ciRun);
  const keyNode = nodes.find(({ checkout }) => checkout?.tree === tree && checkout.keys.join() !== keys.join());
  if (keyNode) {
    const missingKeys = keys.filter(key => !keyNode.checkout!.keys.includes(key));
    return against(`node ${keyNode.node_index} ran with another key`, ciRun, { steps: 1, missingKeys });
  }
  const doubt = nodes.map(node => doubtOf(node, tree)).find(text => text !== null);
  if (doubt) return against(doubt, ciRun, { steps: 2 });
  if (!mayCompare) return against('other CI runs of this tree began later, and none of them proves it', ciRun, { steps: 3 });
  return compare(store, question, ciRun, nodes);
}

/** What the nodes of a CI run told: those of its queue and of its split, if it has both, because the runs of both count for each. */
export async function nodesOf({ ciRuns }: Store, ciRun: CiRun): Promise<NotedNode[]> {
  const both = (await ciRuns.ofBuild(ciRun.project, ciRun)).filter(({ digest }) => digest === ciRun.digest);
  return (await Promise.all((both.length > 0 ? both : [ciRun]).map(({ id }) => ciRuns.nodes(id)))).flat();
}

/** Why the files of a node may not be those of a tree; null: they are. */
export function doubtOf({ node_index, checkout }: NotedNode, tree: string): string | null {
  if (!checkout) return `node ${node_index} did not tell its tree`;
  if (checkout.tree === null) return `the tree of node ${node_index} is not known: ${checkout.doubt}`;
  if (checkout.tree !== tree) return `node ${node_index} ran on another tree, ${checkout.tree}`;
  return checkout.doubt === null ? null : `the files of node ${node_index} may differ from the tree: ${checkout.doubt}`;
}

async function compare(store: Store, question: ProofQuestion, ciRun: CiRun, nodes: readonly NotedNode[]): Promise<Finding> {
  const judged = await judge(store, ciRun, nodes);
  if (judged.listDigest !== question.listDigest && judged.listDigest !== null)
    return against('its nodes had another list of test files', ciRun, { steps: COMPARED });
  const { reason, seen } = judged;
  if (!seen) return against(reason!, ciRun, { steps: COMPARED + 1 });
  const spoken = reason ?? failureOf(seen.outcomes, question);
  if (spoken !== null) return against(spoken, ciRun, { steps: COMPARED + 2, seen });
  return { reason: null, ciRun, seen, missingKeys: [], steps: Infinity };
}

function failureOf({ failed, flaky }: Outcomes, { flakyPasses }: ProofQuestion): string | null {
  if (failed.length > 0) return `${first(failed)} failed`;
  return flaky.length > 0 && !flakyPasses
    ? `${first(flaky)} passed only when ${agree(flaky.length, 'it was', 'they were')} tried again`
    : null;
}

/** What is known of the files of a CI run. */
export interface Judged {
  /** Of its list of test files; null: it has no known queue or split. */
  listDigest: string | null;
  /** Why it is not known how each file ended; null: it is known. */
  reason: string | null;
  /** Null: it is not complete. */
  seen: Seen | null;
}

/** Finds out how the files of a CI run ended. @param nodes what its nodes told */
export async function judge(store: Store, ciRun: CiRun, nodes: readonly NotedNode[]): Promise<Judged> {
  const { project, kind, plan, commit_hash, branch, node_total, ci_run } = ciRun;
  // The id may be cut.
  if (ci_run.length >= limits.ciRunCharacters) return { listDigest: null, reason: 'its id is too long to be known whole', seen: null };
  const id = kind === 'queue' ? { node_build_id: ci_run } : { ci_build_id: ci_run };
  const compared = await compareCiRun(store, { project, build: { commit_hash, branch, node_total }, ...id });
  const { assigned, runs, nodesCame, answer } = compared;
  const listDigest = assigned?.listDigest ?? null;
  if (!assigned || answer.errors.length > 0) return { listDigest, reason: `it is not complete: ${answer.errors[0]}`, seen: null };
  // What its nodes told is of another split.
  if (assigned.plan !== plan) return { listDigest, reason: 'its nodes used two splits', seen: null };
  const outcomes = outcomesOf(assigned.handed, runs, ciRun.digest);
  const silent = nodesCame.find(came => !nodes.some(({ node_index }) => node_index === came));
  const reason = silent === undefined ? untoldText(outcomes) : `node ${silent} did not tell its tree`;
  return { listDigest, reason, seen: { nodes: nodesCame.length, outcomes } };
}

function untoldText({ untold }: Outcomes): string | null {
  return untold.length === 0 ? null : `nobody told how ${first(untold)} ended: its client tells no outcomes, or died`;
}

function first([path, ...others]: readonly string[]): string {
  return others.length === 0 ? path! : `${path} and ${pluralize(others.length, 'other test file')}`;
}
