import { limits } from '../../limits.js';
import { runsSince } from '../builds.js';
import { shortDigest } from '../digest.js';
import type { Store } from '../ports/store.js';
import { type Assigned, type CompletenessSubject, findAssigned } from './assigned.js';
import { type Comparison, compare } from './compare.js';
import { type Incompleteness, incompleteness, warningsOf } from './report.js';

/** Whether every test file of a CI run is recorded. */
export interface Completeness extends Incompleteness {
  /** Null: no split or queue is known. */
  assigned: Assigned | null;
  comparison: Comparison;
  /** Problems that do not make it incomplete. */
  warnings: string[];
}

export async function completeness(store: Store, subject: CompletenessSubject): Promise<Completeness> {
  const { project, build: key, node_build_id, ci_build_id, allowsEmpty = false } = subject;
  const assigned = await findAssigned(store, subject);
  const build = await store.builds.find(project, key);
  const id = node_build_id ?? ci_build_id;
  const ciRun = id === undefined ? null : shortDigest(id);
  // A run that names no CI run may belong to this one.
  const runs = (await runsSince(store.builds, build, assigned?.since ?? null))
    .filter(({ ci_run }) => ciRun === null || ci_run === 0 || ci_run === ciRun)
    .map(run => ({ ...run, at: run.created_at }));
  const comparison = compare(assigned?.handed ?? new Map(), runs, key.node_total, assigned?.restarts);
  const full: number[] = [];
  for (const node of new Set([...comparison.notRecorded.map(({ node_index }) => node_index), ...comparison.lostReruns])) {
    if (build && (await store.builds.runs(build.number, node)).length >= limits.runsPerNode) full.push(node);
  }
  return {
    assigned,
    comparison,
    ...incompleteness(assigned, comparison, { runs: runs.length, full, allowsEmpty }),
    warnings: warningsOf(assigned, comparison, allowsEmpty),
  };
}
