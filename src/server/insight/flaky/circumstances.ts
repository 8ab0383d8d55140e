import { pathsOfQueue } from '../../engine/planned-files.js';
import type { Build } from '../../engine/ports/builds.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { FileFailure } from '../../engine/ports/failures.js';
import type { Store } from '../../engine/ports/store.js';
import { batchesOf } from '../../engine/queues.js';
import { failedCases } from '../minutes/failed-cases.js';

/** Only for the first files is this read: each costs some reads. */
const MOST_FILES = 20;
/** Test cases of a file that are kept. One whose name has more characters is not. */
const MOST_CASES = 3;
const CASE_CHARACTERS = 500;

/**
 * Adds to the first files that failed in CI runs of a build what ran before them, and which of their test cases failed. A report of a later CI run
 * takes the place of an earlier one, so names that the build already has stay if no report has any.
 *
 * @param ciRuns oldest first
 */
export async function addCircumstances(store: Store, build: Build, ciRuns: readonly CiRun[], files: readonly FileFailure[]): Promise<void> {
  const known = new Map((await store.failures.of(build))?.files.map(({ path, cases }) => [path, cases]));
  const queues = ciRuns.filter(({ kind }) => kind === 'queue');
  const before = await Promise.all(queues.map(ciRun => pathsBefore(store, ciRun)));
  for (const file of files.slice(0, MOST_FILES)) {
    const path = await store.builds.path(file.path);
    const pathBefore = before.flatMap(found => found.get(`${file.node_index} ${path}`) ?? [])[0];
    if (pathBefore !== undefined) file.before = await store.builds.pathNumber(build.project, pathBefore);
    const cases = await failedCases(store, { project: build.project, build }, ciRuns, path);
    const kept = cases.filter(({ length }) => length <= CASE_CHARACTERS).slice(0, MOST_CASES);
    file.cases = kept.length > 0 ? kept : (known.get(file.path) ?? []);
  }
}

/** The path that ran just before each file that failed, in the same batch of a queue, by node and path. The first of a batch has none. */
async function pathsBefore(store: Store, { plan }: CiRun): Promise<Map<string, string>> {
  const failed = (await batchesOf(store.queues, plan)).own.flatMap(({ node_index, files, failed }) =>
    (failed ?? []).flatMap(file => {
      const at = files.indexOf(file);
      return at > 0 ? { node_index, file, before: files[at - 1]! } : [];
    }),
  );
  const paths = await pathsOfQueue(
    store,
    plan,
    failed.flatMap(({ file, before }) => [file, before]),
  );
  return new Map(failed.map(({ node_index }, i) => [`${node_index} ${paths[2 * i]}`, paths[2 * i + 1]!]));
}
