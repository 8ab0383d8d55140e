import { CI_RUNS_OF_TREE } from '../completeness/checkouts.js';
import { shortDigest } from '../keys.js';
import type { Store } from '../ports/store.js';
import type { ProofQuestion } from './proof.js';

/** A CI run that asks whether its tree is proved. */
export interface AskingCiRun {
  commit_hash: string;
  branch: string;
  /** The id that its nodes send. */
  ci_run: string;
}

/** Reports whether a proof spares a CI run its tests: it has not begun to run them, as one has whose last job asks. */
export async function isSpared(
  { ciRuns }: Pick<Store, 'ciRuns'>,
  { project, tree }: ProofQuestion,
  { commit_hash, ci_run }: AskingCiRun,
): Promise<boolean> {
  const digest = shortDigest(ci_run);
  const begun = await ciRuns.ofTree(project, tree, CI_RUNS_OF_TREE);
  return !begun.some(run => run.digest === digest && run.commit_hash === commit_hash);
}
