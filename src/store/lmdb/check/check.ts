import type { Parts } from '../open.js';
import { problemsOfBuildIndex } from './build-index.js';
import { problemsOfBuilds } from './builds.js';
import { problemsOfExpiry } from './expiry.js';
import { problemsOfPaths } from './paths.js';
import { problemsOfPlans } from './plans.js';
import { ofRecord, type Problem, type Seen } from './problem.js';
import { problemsOfProjects } from './projects.js';

const kinds: Readonly<Record<string, (store: Parts, seen: Seen) => Iterable<Problem>>> = {
  projects: problemsOfProjects,
  builds: problemsOfBuilds,
  buildIndex: problemsOfBuildIndex,
  paths: problemsOfPaths,
  plans: problemsOfPlans,
  expiry: problemsOfExpiry,
};

/**
 * What does not fit together in the store. Reads one state of it, because it runs without a pause: also beside a server.
 */
export function* problemsOf(store: Parts, seen: Seen): Generator<Problem> {
  // Of this process; a server does it for itself.
  store.journal.read();
  for (const [kind, problems] of Object.entries(kinds)) yield* ofRecord(kind, null, () => problems(store, seen));
}

/** So many at a time share a flush. */
const REPAIRS_AT_ONCE = 500;

/** Repairs what can be; where one repair stands for several problems it is done once. */
export async function repair(problems: readonly Problem[]): Promise<void> {
  const repairs = [...new Set(problems.flatMap(problem => problem.repair ?? []))];
  for (let from = 0; from < repairs.length; from += REPAIRS_AT_ONCE) {
    await Promise.all(repairs.slice(from, from + REPAIRS_AT_ONCE).map(once => once()));
  }
}
