import type { Parts } from '../parts.js';
import { JOURNAL_FILES } from '../writes/journal-files.js';
import { problemsOfBuildIndex } from './build-index.js';
import { problemsOfBuilds, problemsOfSummaries } from './builds.js';
import { problemsOfExpiry } from './expiry.js';
import { problemsOfPaths } from './paths.js';
import { problemsOfCiRuns, problemsOfPlans } from './plans.js';
import { ofRecord, type Problem, type Seen } from './problem.js';
import { problemsOfProjects, problemsOfSignIns } from './projects.js';

const kinds: Readonly<Record<string, (parts: Parts, seen: Seen) => Iterable<Problem>>> = {
  projects: problemsOfProjects,
  signIns: problemsOfSignIns,
  builds: problemsOfBuilds,
  buildIndex: problemsOfBuildIndex,
  paths: problemsOfPaths,
  plans: problemsOfPlans,
  ciRuns: problemsOfCiRuns,
  summaries: problemsOfSummaries,
  expiry: problemsOfExpiry,
};

/**
 * Returns what is inconsistent in the tables. A server may be writing to them meanwhile: the check reads one state, because it never
 * yields to the event loop.
 */
export function* problemsOf(parts: Parts, seen: Seen): Generator<Problem> {
  // Before all others, because it sets the state that is read. The journal that a server has in memory is in another process.
  yield* ofRecord('journal', JOURNAL_FILES, () => {
    parts.journal.read();
    // An earlier check may have had them repaired.
    parts.blobSteps.clear();
    parts.blobsRead.clear();
    return [];
  });
  for (const [kind, problems] of Object.entries(kinds)) yield* ofRecord(kind, null, () => problems(parts, seen));
}

/** Repairs that run at once share a flush. */
const REPAIRS_AT_ONCE = 500;

/** Repairs what can be repaired. A repair that solves several problems runs once. */
export async function repair(problems: readonly Problem[]): Promise<void> {
  const repairs = [...new Set(problems.flatMap(problem => problem.repair ?? []))];
  for (let from = 0; from < repairs.length; from += REPAIRS_AT_ONCE) {
    await Promise.all(repairs.slice(from, from + REPAIRS_AT_ONCE).map(once => once()));
  }
}
