import { hasEndedComplete } from '../../../protocol/build-state.js';
import { limits } from '../../../protocol/limits.js';
import type { Build } from '../../engine/ports/builds.js';
import type { FailedBuild } from '../../engine/ports/failures.js';
import type { Store } from '../../engine/ports/store.js';
import { isOutOfDate } from '../../engine/ports/summaries.js';
import { withSummaries } from '../trends/summary.js';

/** A file that failed at so many commits in a row is failing. */
const FAILING_COMMITS = 2;

/** A commit of the default branch, and the paths that failed in all of its builds. */
interface DecidedCommit {
  build: Build;
  failed: ReadonlySet<number>;
}

/** The paths that failed at each of the newest commits of the default branch, with the first build of the row; and the builds without a new summary. */
export async function failingFiles(
  store: Store,
  project: number,
  failed: readonly FailedBuild[],
): Promise<{ failing: Map<number, Build>; outdated: Build[] }> {
  const { commits, outdated } = await decidedCommits(store, project, failed);
  const failing = new Map<number, Build>();
  for (const path of commits[0]?.failed ?? []) {
    const passed = commits.findIndex(each => !each.failed.has(path));
    const row = passed === -1 ? commits.length : passed;
    if (row >= FAILING_COMMITS) failing.set(path, commits[row - 1]!.build);
  }
  return { failing, outdated };
}

/** The newest commits of the default branch that tell what fails, the newest first. An outage hides what else failed. */
async function decidedCommits(
  store: Store,
  project: number,
  failed: readonly FailedBuild[],
): Promise<{ commits: DecidedCommit[]; outdated: Build[] }> {
  const branch = (await store.access.project(project))?.default_branch ?? null;
  if (branch === null) return { commits: [], outdated: [] };
  const byBuild = new Map(failed.map(({ build, failures }) => [build.number, failures]));
  const outdated: Build[] = [];
  const commits = new Map<string, DecidedCommit>();
  for (const { build, summary } of await withSummaries(
    store,
    await store.builds.list(project, { branch }, { limit: limits.trendBuilds }),
  )) {
    if (isOutOfDate(build, summary)) outdated.push(build);
    const failures = byBuild.get(build.number);
    if (!summary || !hasEndedComplete(summary.state) || (failures?.outages.length ?? 0) > 0) continue;
    const ofBuild = new Set(failures?.files.flatMap(({ path, isFlaky }) => (isFlaky ? [] : path)));
    const { build: newest, failed: before } = commits.get(build.commit_hash) ?? { build, failed: ofBuild };
    commits.set(build.commit_hash, { build: newest, failed: new Set([...ofBuild].filter(path => before.has(path))) });
  }
  return { commits: [...commits.values()], outdated };
}
