import type { FailedFile } from '../../../protocol/answers/minutes.js';
import type { BuildFailures } from '../../engine/ports/failures.js';
import type { Store } from '../../engine/ports/store.js';
import type { Subject } from '../subject.js';

/** The newest builds with failures in which flaky files are looked up. */
const BUILDS_BEFORE = 1000;
/** Only so many of the files that failed are looked up. */
const MOST_FAILED = 100;

/** The paths that were flaky in other builds of a project. @param number of the build that does not count; null: all count */
export async function flakyInOthers({ failures }: Pick<Store, 'failures'>, project: number, number: number | null): Promise<Set<number>> {
  const others = (await failures.newest(project, BUILDS_BEFORE)).filter(({ build }) => build.number !== number);
  return new Set(others.flatMap(other => other.failures.files.flatMap(({ path, isFlaky }) => (isFlaky ? path : []))));
}

/** The numbers of the builds of a project in which a file was flaky. @param paths of the file and of its pieces */
export async function buildsWithFlaky(
  { failures }: Pick<Store, 'failures'>,
  project: number,
  paths: ReadonlySet<number>,
): Promise<Set<number>> {
  const newest = await failures.newest(project, BUILDS_BEFORE);
  const wasFlaky = ({ files }: BuildFailures) => files.some(({ path, isFlaky }) => isFlaky && paths.has(path));
  return new Set(newest.flatMap(failed => (wasFlaky(failed.failures) ? failed.build.number : [])));
}

/** Marks those of the first files that failed in a build which were flaky in other builds. */
export async function markKnownFlaky(store: Store, { project, recorded }: Subject, failed: readonly FailedFile[]): Promise<void> {
  if (failed.length === 0) return;
  const flaky = await flakyInOthers(store, project, recorded?.number ?? null);
  if (flaky.size === 0) return;
  for (const file of failed.slice(0, MOST_FAILED)) {
    const number = await store.builds.pathNumber(project, file.path);
    if (number !== null && flaky.has(number)) file.is_known_flaky = true;
  }
}
