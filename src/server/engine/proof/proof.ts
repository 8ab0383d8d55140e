import { agree } from '../../../base/plural.js';
import { CI_RUNS_OF_TREE, doubtOfNodes, nodesOf, nodeWithOtherKeys, type TreeAndKeys } from '../completeness/checkouts.js';
import type { CiRun } from '../ports/ci-runs.js';
import type { Millis, Store } from '../ports/store.js';
import { type EndedInShort, firstOf, judgeInShort, keptJudgement, untoldText } from './judgement.js';

/** What is to be proved: that these files passed in this tree. */
export interface ProofQuestion extends TreeAndKeys {
  project: number;
  /** See list-digest.ts. */
  listDigest: string;
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
  /** How its files ended; null: it was not looked at so closely, or is not complete. */
  ended: EndedInShort | null;
  /** The keys of the question that the CI run does not have. */
  missingKeys: string[];
}

/** Finds a CI run that proves what is asked, or the first thing that speaks against the one that comes closest. Any doubt speaks against it. */
export async function prove(store: Store, question: ProofQuestion): Promise<Proof> {
  let closest: Finding | null = null;
  for (const ciRun of await store.ciRuns.ofTree(question.project, question.tree, CI_RUNS_OF_TREE)) {
    const finding = await findingOf(store, question, ciRun);
    if (finding.reason === null) return finding;
    if (!closest || finding.steps > closest.steps) closest = finding;
  }
  return closest ?? against('no CI run of this tree is known', null, 0);
}

/** What speaks against a CI run, and after how many steps: the more, the closer it came. */
interface Finding extends Proof {
  steps: number;
}

function against(reason: string, ciRun: CiRun | null, steps: number, more: Partial<Finding> = {}): Finding {
  return { reason, ciRun, ended: null, missingKeys: [], steps, ...more };
}

async function findingOf(store: Store, question: ProofQuestion, ciRun: CiRun): Promise<Finding> {
  const { tree, keys, since, listDigest, flakyPasses } = question;
  if (ciRun.created_at <= since) return against('it began too long ago', ciRun, 0);
  // At once: on a database each read waits.
  const [nodes, kept] = await Promise.all([nodesOf(store, ciRun), keptJudgement(store, ciRun)]);
  const keyNode = nodeWithOtherKeys(nodes, question);
  if (keyNode) {
    const missingKeys = keys.filter(key => !keyNode.checkout!.keys.includes(key));
    return against(`node ${keyNode.node_index} ran with another key`, ciRun, 1, { missingKeys });
  }
  const doubt = doubtOfNodes(nodes, tree);
  if (doubt) return against(doubt, ciRun, 2);
  const judged = kept ?? (await judgeInShort(store, ciRun));
  if (judged.listDigest !== listDigest && judged.listDigest !== null) return against('its nodes had another list of test files', ciRun, 3);
  const { gap, ended } = judged;
  if (!ended) return against(gap!, ciRun, 4);
  if (ended.provedSince !== null && ended.provedSince <= since)
    return against('a CI run that proved some of its files began too long ago', ciRun, 4);
  const reason = untoldText(ended.nodes, nodes, ended.untold) ?? failureOf(ended, flakyPasses);
  return reason === null ? { reason, ciRun, ended, missingKeys: [], steps: Infinity } : against(reason, ciRun, 5, { ended });
}

function failureOf({ failed, flaky }: EndedInShort, flakyPasses: boolean): string | null {
  if (failed.count > 0) return `${firstOf(failed)} failed`;
  return flaky.count > 0 && !flakyPasses
    ? `${firstOf(flaky)} passed only when ${agree(flaky.count, 'it was', 'they were')} tried again`
    : null;
}
