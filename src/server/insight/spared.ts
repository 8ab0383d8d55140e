import { rounded } from '../../base/rounding.js';
import { timestamp } from '../../base/time.js';
import type { MinutesAnswer } from '../../protocol/answers/minutes.js';
import { findPlan } from '../engine/completeness/assigned.js';
import { subjectOf } from '../engine/completeness/checkouts.js';
import type { CiRun } from '../engine/ports/ci-runs.js';
import type { Store } from '../engine/ports/store.js';

/** CI runs that an answer names: the others are counted. */
const NAMED = 20;

/** What proofs saved: the CI runs that one has proved, and the files that it need not run itself. */
export async function sparedBy(store: Store, ciRun: CiRun | null): Promise<Pick<MinutesAnswer, 'spared' | 'proved'>> {
  const spared = ciRun ? await store.ciRuns.spared(ciRun.id) : [];
  const newest = spared.toSorted((a, b) => b.asked_at - a.asked_at).slice(0, NAMED);
  const subject = ciRun?.kind === 'queue' ? subjectOf(ciRun) : null;
  const { proved } = (subject && (await findPlan(store, subject)))?.info.list ?? {};
  return {
    spared: {
      count: spared.length,
      node_seconds: rounded(
        spared.reduce((sum, { seconds }) => sum + seconds, 0),
        1000,
      ),
      newest: newest.map(({ commit_hash, branch, ci_run, asked_at }) => ({ commit_hash, branch, ci_run, asked_at: timestamp(asked_at) })),
    },
    proved: proved ? { test_files: proved.test_files, ci_runs: proved.ci_runs } : null,
  };
}
