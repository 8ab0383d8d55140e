import type { Parts } from '../parts.js';
import { problemsOfBuildIndex } from './build-index.js';
import { problemsOfBuilds } from './builds.js';
import { problemsOfExpiry } from './expiry.js';
import { problemsOfPaths } from './paths.js';
import { problemsOfPlans } from './plans.js';
import { ofRecord, type Problem, type Seen } from './problem.js';
import { problemsOfProjects } from './projects.js';

const kinds: Readonly<Record<string, (parts: Parts, seen: Seen) => Iterable<Problem>>> = {
  projects: problemsOfProjects,
  builds: problemsOfBuilds,
  buildIndex: problemsOfBuildIndex,
  paths: problemsOfPaths,
  plans: problemsOfPlans,
  expiry: problemsOfExpiry,
};

/**
 * What does not fit together in the tables. Reads one state of it, because it runs without a pause: also beside a server.
 */
export function* problemsOf(parts: Parts, seen: Seen): Generator<Problem> {
  // The journal of a server is in the memory of its own process.
  parts.journal.read();
  for (const [kind, problems] of Object.entries(kinds)) yield* ofRecord(kind, null, () => problems(parts, seen));
}

/** Repairs that are made at a time share a flush. */
const REPAIRS_AT_ONCE = 500;

/** Repairs what can be repaired. A repair that solves several problems is made once. */
export async function repair(problems: readonly Problem[]): Promise<void> {
  const repairs = [...new Set(problems.flatMap(problem => problem.repair ?? []))];
  for (let from = 0; from < repairs.length; from += REPAIRS_AT_ONCE) {
    await Promise.all(repairs.slice(from, from + REPAIRS_AT_ONCE).map(once => once()));
  }
}
