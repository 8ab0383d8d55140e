import { groupBy } from '../../../base/group-by.js';
import { limits } from '../../../protocol/limits.js';
import { findPlan } from '../../engine/completeness/assigned.js';
import { nodesOf, subjectOf } from '../../engine/completeness/checkouts.js';
import type { RunHead } from '../../engine/ports/builds.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { BuildFailures } from '../../engine/ports/failures.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import type { Subject } from '../subject.js';
import { isOf } from '../timeline/read-timeline.js';
import { addCircumstances } from './circumstances.js';
import { failedPaths, failuresOfRuns, GROUP_FILES, type NodeRun, type RecordedCiRun } from './failures-of-runs.js';
import { flakyInOthers } from './known-flaky.js';

/** The newest CI runs of a build whose outcomes are compared. */
const CI_RUNS = 20;
/** What failed in the recorded runs of a build; null: nothing, or its clients do not tell. @param at when its newest CI run began */
export async function failuresOfBuild(store: Store, { project, recorded, ciRuns }: Subject, at: Millis): Promise<BuildFailures | null> {
  if (!recorded) return null;
  const read: { ciRun: CiRun | null; runs: NodeRun[] }[] = [];
  let files = 0;
  for (const { ciRun, heads } of headsByCiRun(await store.builds.runs(recorded.number), ciRuns)) {
    files += heads.reduce((sum, { test_files }) => sum + test_files, 0);
    if (files > limits.mergedTestFiles) break;
    const runs: NodeRun[] = [];
    for (const head of heads) {
      const times = await store.builds.times(recorded.number, head);
      if (times) runs.push({ ...times, node_index: head.node_index, created_at: head.created_at });
    }
    read.unshift({ ciRun, runs });
  }
  const anyFailed = failedPaths(read);
  if (anyFailed.size === 0) return null;
  const flakyBefore = anyFailed.size < GROUP_FILES ? new Set<number>() : await flakyInOthers(store, project, recorded.number);
  const found: RecordedCiRun[] = [];
  for (const [i, { ciRun, runs }] of read.entries())
    found.push({ setting: (read.length > 1 && ciRun && (await settingOf(store, ciRun))) || `${i}`, runs });
  const { outages, files: failed } = failuresOfRuns(found, flakyBefore);
  await addCircumstances(
    store,
    recorded,
    read.flatMap(({ ciRun }) => ciRun ?? []),
    failed,
  );
  return outages.length + failed.length === 0 ? null : { at, outages, files: failed };
}

/** The runs of each CI run in the order of recording, the newest CI run first. Without known CI runs, by the id that the clients gave. */
function headsByCiRun(heads: readonly RunHead[], ciRuns: readonly CiRun[]): { ciRun: CiRun | null; heads: RunHead[] }[] {
  const ordered = heads.toSorted((a, b) => a.ordinal - b.ordinal);
  if (ciRuns.length === 0)
    return [...groupBy(ordered, ({ ci_run }) => ci_run).values()]
      .slice(-CI_RUNS)
      .reverse()
      .map(own => ({ ciRun: null, heads: own }));
  // A queue and a split may have the id of one CI run: its runs count once.
  let left = ordered;
  return ciRuns.slice(0, CI_RUNS).map((ciRun, i) => {
    const own = new Set(left.filter(head => isOf(ciRun, ciRuns[i - 1] ?? null, head)));
    left = left.filter(head => !own.has(head));
    return { ciRun, heads: [...own] };
  });
}

/** The list of a CI run with the trees and keys that its nodes told; null: its plan is not known. */
async function settingOf(store: Store, ciRun: CiRun): Promise<string | null> {
  const subject = subjectOf(ciRun);
  const plan = subject && (await findPlan(store, subject));
  if (!plan) return null;
  const told = (await nodesOf(store, ciRun)).map(({ checkout }) => `${checkout?.tree ?? ''} ${checkout?.keys.join() ?? ''}`);
  return [plan.info.list.digest, ...[...new Set(told)].sort()].join(' ');
}
