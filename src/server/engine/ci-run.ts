import { limits } from '../../protocol/limits.js';
import { type BuildKey, type QueueKey, type SplitKey, shortDigest } from './keys.js';
import type { CiRun, CiRuns } from './ports/ci-runs.js';
import type { Millis } from './ports/store.js';

/** CI runs of one build that are listed. */
export const CI_RUNS_PER_BUILD = 100;
/** CI runs that one is noted to have spared. */
export const SPARED_PER_CI_RUN = 1000;
/** Newest CI runs of a project that are searched for one whose number of nodes is unknown. */
const CI_RUNS_SEARCHED = 5000;
/** CI runs that one read fetches. */
const CI_RUNS_PER_READ = 500;

/** The nodes of a CI run that is cancelled say so within this time. */
const CANCEL_SPREAD_MILLISECONDS = 30_000;

/**
 * Tells whether a CI run, all of whose nodes have ended, was cancelled. A CI system cancels all nodes at once. If others went on, a single job was
 * ended: by its timeout, or with its machine.
 *
 * @param nodes cancelledAt: when a node said that it is cancelled; null: it did not, or came back. heardAt: when it was last heard of
 */
export function wasCancelled(nodes: readonly { cancelledAt: Millis | null; heardAt: Millis }[]): boolean {
  const first = Math.min(...nodes.map(({ cancelledAt }) => cancelledAt ?? Infinity));
  return (
    first < Infinity && nodes.every(({ cancelledAt, heardAt }) => cancelledAt !== null || heardAt <= first + CANCEL_SPREAD_MILLISECONDS)
  );
}

/**
 * The numbers of nodes of the builds of a commit that a CI run has, among the newest CI runs of the project.
 *
 * @param ci_run the kind of the CI run, and the id that the CI system gave it
 * @param since CI runs that began before this time are not looked at
 */
export async function nodeTotalsOf(
  ciRuns: CiRuns,
  project: number,
  { commit_hash, branch }: Omit<BuildKey, 'node_total'>,
  ci_run: { kind: CiRun['kind']; id: string },
  since: Millis,
): Promise<number[]> {
  const digest = shortDigest(ci_run.id);
  const isWanted = (run: CiRun) =>
    run.digest === digest && run.kind === ci_run.kind && run.commit_hash === commit_hash && run.branch === branch;
  const totals = new Set<number>();
  let before = Infinity;
  for (let read = 0; read < CI_RUNS_SEARCHED; read += CI_RUNS_PER_READ) {
    const runs = await ciRuns.list(project, before, CI_RUNS_PER_READ);
    for (const run of runs) if (isWanted(run)) totals.add(run.node_total);
    if (runs.length < CI_RUNS_PER_READ || runs.at(-1)!.created_at < since) break;
    // Others may have begun in the same millisecond.
    before = runs.at(-1)!.created_at + 1;
    await new Promise(resolve => setImmediate(resolve));
  }
  return [...totals];
}

/** A CI run that begins: its queue was created, or it first uses a split. */
export function beginningCiRun(
  { project, build, ci_run }: QueueKey | SplitKey,
  begun: Pick<CiRun, 'id' | 'kind' | 'plan' | 'created_at' | 'runs_before'>,
): CiRun {
  return { ...begun, ...build, project, ci_run: ci_run.slice(0, limits.ciRunCharacters), digest: shortDigest(ci_run) };
}
