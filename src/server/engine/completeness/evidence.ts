import { boundedRuns } from '../builds.js';
import { shortDigest } from '../keys.js';
import { isAfter } from '../moment.js';
import type { Build, Run } from '../ports/builds.js';
import type { Store } from '../ports/store.js';
import { isFailure, outcomeOf } from '../test-file.js';
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
  /** The same, and what failed in earlier runs that name the CI run: a node in fallback may be the first, before there is a queue or split. */
  told: readonly Run[];
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
  const isOwn = ({ ci_run }: Pick<Run, 'ci_run'>) => ciRun !== null && ci_run === ciRun;
  const counts = (run: Pick<Run, 'ordinal' | 'created_at'>) => !assigned || isAfter(run, assigned.since);
  const [runs, earlier]: [Run[], Run[]] = [[], []];
  if (build) {
    // A run that names no CI run may belong to this one.
    const heads = (await store.builds.runs(build.number)).filter(
      head => isOwn(head) || (counts(head) && (ciRun === null || head.ci_run === 0)),
    );
    for await (const run of boundedRuns(store.builds, build, heads)) (counts(run) ? runs : earlier).push(run);
  }
  const told = [...earlier.map(failedOnly), ...runs];
  const withFiles = runs.filter(({ paths }) => paths.length > 0);
  return { assigned, build, ciRun, runs, told, noTestRan: withFiles.length > 0 && withFiles.every(({ has_no_test }) => has_no_test) };
}

/** A run with the files, of its own, that failed. */
function failedOnly(run: Run): Run {
  const failed = Array.from(run.outcomes.keys()).filter(i => isFailure(outcomeOf(run.outcomes[i]!)));
  return {
    ...run,
    paths: failed.map(i => run.paths[i]!),
    seconds: Float64Array.from(failed, i => run.seconds[i]!),
    outcomes: Uint8Array.from(failed, i => run.outcomes[i]!),
  };
}
