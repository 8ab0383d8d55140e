import { limits } from '../../protocol/limits.js';
import { type BuildKey, type QueueKey, type SplitKey, shortDigest } from './keys.js';
import type { CiRun, CiRuns } from './ports/ci-runs.js';
import type { Millis } from './ports/store.js';

/** CI runs of one build that are listed. */
export const CI_RUNS_PER_BUILD = 100;
/** Newest CI runs of a project that are searched for one whose number of nodes is unknown. */
const CI_RUNS_SEARCHED = 5000;
/** How many of these CI runs are read at a time. */
const CI_RUNS_PER_READ = 500;

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
