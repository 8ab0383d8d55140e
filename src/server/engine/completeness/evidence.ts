import { runsSince } from '../builds.js';
import { shortDigest } from '../keys.js';
import type { Build, Run } from '../ports/builds.js';
import type { Store } from '../ports/store.js';
import { type Assigned, type CompletenessSubject, findAssigned } from './assigned.js';

/** What is known of a CI run: the files that were assigned to its nodes, and what they recorded. */
export interface Evidence {
  /** Null: it has no known queue or split. */
  assigned: Assigned | null;
  /** Null: nothing is recorded. */
  build: Build | null;
  /** The digest of the CI run; null: the newest one is meant. */
  ciRun: number | null;
  /** Those that count: each names the CI run, or none. */
  runs: readonly Run[];
  /** Some files were recorded, and their clients said of each that no test of it ran. */
  noTestRan: boolean;
}

/** Reads what is known of a CI run. Throws a 422 when its runs do not fit in memory. */
export async function evidenceOf(store: Store, subject: CompletenessSubject): Promise<Evidence> {
  const { project, build: key, node_build_id, ci_build_id } = subject;
  const assigned = await findAssigned(store, subject);
  const build = await store.builds.find(project, key);
  const id = node_build_id ?? ci_build_id;
  const ciRun = id === undefined ? null : shortDigest(id);
  // A run that names no CI run may belong to this one.
  const runs = (await runsSince(store.builds, build, assigned?.since ?? null)).filter(
    ({ ci_run }) => ciRun === null || ci_run === 0 || ci_run === ciRun,
  );
  const withFiles = runs.filter(({ paths }) => paths.length > 0);
  return { assigned, build, ciRun, runs, noTestRan: withFiles.length > 0 && withFiles.every(({ has_no_test }) => has_no_test) };
}
