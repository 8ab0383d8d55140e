import type { Store } from '../open.js';
import { problemsOfBuildIndex } from './build-index.js';
import { problemsOfBuilds } from './builds.js';
import { problemsOfExpiry } from './expiry.js';
import { problemsOfPaths } from './paths.js';
import { problemsOfPlans } from './plans.js';
import type { Problem, Seen } from './problem.js';
import { problemsOfProjects } from './projects.js';

/**
 * Everything that does not fit together: each index, counter and reference is looked at from both ends. Reads one state of the
 * store, because it runs without a pause: also beside a server.
 */
export function* problemsOf(store: Store, seen: Seen): Generator<Problem> {
  // Of this process; a server does it for itself.
  store.journal.read();
  yield* problemsOfProjects(store, seen);
  yield* problemsOfBuilds(store, seen);
  yield* problemsOfBuildIndex(store, seen);
  yield* problemsOfPaths(store, seen);
  yield* problemsOfPlans(store, seen);
  yield* problemsOfExpiry(store, seen);
}

/** Repairs what can be; where one repair stands for several problems it is done once. */
export async function repair(problems: readonly Problem[]): Promise<void> {
  for (const once of new Set(problems.flatMap(problem => problem.repair ?? []))) await once();
}
