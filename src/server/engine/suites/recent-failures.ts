import { hasEndedComplete } from '../../../protocol/build-state.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import { allFirst } from '../../planning/batching/first-files.js';
import { pathsOfQueue } from '../planned-files.js';
import type { Build } from '../ports/builds.js';
import type { Store } from '../ports/store.js';
import { isOutOfDate, type Summary } from '../ports/summaries.js';
import { failedIn } from '../queue/failed.js';

/** The newest builds of a branch that are looked at. Most often only the first one is: the others if those before were cut short, or report nothing. */
const NEWEST_BUILDS = 3;
/** Failed files of a build without a summary that are looked at. */
const MOST_FAILED = 100;

/** What the newest CI run of a build tells. */
interface Reported {
  failed: readonly string[];
  /** All of its files were reported, so it tells more than the builds before. */
  isWhole: boolean;
}

/**
 * The paths of files that failed in the newest run of a branch, as its clients reported. A run that was cut short counts together with the one
 * before. A file that is flaky is left out when it went first in that run: it failed and passed at one commit, and may do so in every build.
 *
 * Summaries tell this nearly always. The batches of a queue are read only of a build that just ended, or is running.
 *
 * @param mostFiles null is returned if a queue with at least so many files would have to be read
 */
export async function recentFailures(store: Store, project: number, branch: string, mostFiles: number): Promise<string[] | null> {
  const builds = await store.builds.list(project, { branch }, { limit: NEWEST_BUILDS });
  const summaries = await store.summaries.ofBuilds(builds.map(({ number }) => number));
  const failures = new Set<string>();
  let flaky: Set<string> | null = null;
  for (const [i, build] of builds.entries()) {
    const summary = summaries[i]!;
    const reported = isOutOfDate(build, summary) ? await readReported(store, build, mostFiles) : reportedIn(summary!);
    if (!reported) return null;
    if (reported.failed.length > 0) {
      const known = (flaky ??= await flakyIn(store, builds));
      const repeated = reported.failed.some(path => known.has(path)) ? await wentFirst(store, build) : [];
      for (const path of reported.failed) if (!known.has(path) || !repeated.includes(path)) failures.add(path);
    }
    if (reported.isWhole) break;
  }
  return [...failures];
}

/** The files that were flaky in one of these builds. */
async function flakyIn(store: Store, builds: readonly Build[]): Promise<Set<string>> {
  const found = await Promise.all(builds.map(build => store.failures.of(build)));
  const flaky = found.flatMap(failures => failures?.files.filter(({ isFlaky }) => isFlaky) ?? []);
  return new Set(await Promise.all(flaky.map(async ({ path }) => fileOfPiece(await store.builds.path(path)))));
}

function reportedIn({ state, line, failed_files }: Summary): Reported {
  return { failed: failed_files, isWhole: line.failed !== null && hasEndedComplete(state) };
}

/** Reads what the batches of the newest queue of a build tell; null: it has too many files. */
async function readReported(store: Store, build: Build, mostFiles: number): Promise<Reported | null> {
  const queue = await store.queues.newest(build.project, build);
  if (!queue) return { failed: [], isWhole: false };
  if (queue.list.test_files >= mostFiles) return null;
  const batches = await store.queues.batches(queue.id);
  const reported = new Set(batches.flatMap(({ failed, files }) => (failed ? files : [])));
  const failed = await pathsOfQueue(store, queue.id, [...failedIn(batches).keys()].slice(0, MOST_FAILED));
  return {
    failed: queue.list.pieces_for === undefined ? failed : failed.map(fileOfPiece),
    isWhole: reported.size >= queue.list.test_files,
  };
}

/** The paths of the files that went first in the newest queue of a build. */
async function wentFirst(store: Store, build: Build): Promise<string[]> {
  const queue = await store.queues.newest(build.project, build);
  const first = queue && (await store.plans.part(queue.id, 'first'));
  return first ? pathsOfQueue(store, queue.id, allFirst(first)) : [];
}
