import { rounded } from '../../base/rounding.js';
import { timestamp } from '../../base/time.js';
import type { SparedCiRuns } from '../../protocol/answers/minutes.js';
import type { CiRun } from '../engine/ports/ci-runs.js';
import type { Store } from '../engine/ports/store.js';

/** CI runs that an answer names: the others are counted. */
const NAMED = 20;

/** The CI runs that need not run their tests, because one had proved their tree. */
export async function sparedBy({ ciRuns }: Pick<Store, 'ciRuns'>, ciRun: CiRun | null): Promise<SparedCiRuns> {
  const spared = ciRun ? await ciRuns.spared(ciRun.id) : [];
  const newest = spared.toSorted((a, b) => b.asked_at - a.asked_at).slice(0, NAMED);
  return {
    count: spared.length,
    node_seconds: rounded(
      spared.reduce((sum, { seconds }) => sum + seconds, 0),
      1000,
    ),
    newest: newest.map(({ commit_hash, branch, ci_run, asked_at }) => ({ commit_hash, branch, ci_run, asked_at: timestamp(asked_at) })),
  };
}
