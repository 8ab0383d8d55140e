import type { Progress } from '../../base/terminal.js';
import { parseBuildList } from '../client/answers.js';
import { type Api, RequestRejected } from '../client/api.js';
import { type RecordedBuild, toBuild } from '../reports/builds.js';
import type { SkippedEntries } from '../reports/skipped-entries.js';

/** Yields the newest builds of another server of the protocol, oldest first: the import then keeps their order. */
export async function* remoteBuilds(api: Api, max: number, skipped: SkippedEntries, progress: Progress): AsyncGenerator<RecordedBuild> {
  const ids = await listBuildIds(api, max, progress);
  for (const [i, id] of ids.entries()) {
    progress.show(() => `build ${(i + 1).toLocaleString('en')} of ${ids.length.toLocaleString('en')}`);
    const build = await fetchBuild(api, id);
    if (build) yield build;
    else skipped.add('the build was deleted during the import', id);
  }
}

/**
 * Returns the ids of the newest builds, oldest first. Servers list the newest build first. A build that is recorded meanwhile shifts the
 * pages: one id is then listed twice, and none is missed.
 */
async function listBuildIds(api: Api, max: number, progress: Progress): Promise<string[]> {
  const listed = new Map<string, string>();
  for (let page = 1; ; page++) {
    const { data, meta } = await api.get(`/v1/builds?page=${page}`, parseBuildList);
    for (const { id, created_at } of data) if (listed.size < max) listed.set(id, created_at ?? '');
    progress.show(() => `${listed.size.toLocaleString('en')} builds found`);
    if (data.length === 0 || listed.size >= max || meta?.is_last_page !== false) break;
  }
  const oldestFirst = [...listed].reverse().sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
  return oldestFirst.map(([id]) => id);
}

/** Returns a build with its runs, oldest first; null: it was deleted. */
export async function fetchBuild(api: Api, id: string): Promise<RecordedBuild | null> {
  let answer;
  try {
    // toBuild reports in detail why a body is not a build.
    answer = await api.get(`/v1/builds/${encodeURIComponent(id)}`, answer => (answer.status === 200 ? answer : null));
  } catch (error) {
    if (error instanceof RequestRejected && error.status === 404) return null;
    throw error;
  }
  try {
    const build = toBuild(answer.body);
    // Servers list the newest run first. The times of runs of the same millisecond do not tell their order.
    return { ...build, build_subsets: build.build_subsets.toReversed() };
  } catch (error) {
    throw new RequestRejected(`build ${id} of ${api.options.url} cannot be read: ${(error as Error).message}`, answer.status);
  }
}
