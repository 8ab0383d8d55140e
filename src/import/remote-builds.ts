import type { Progress } from '../cli/process/progress.js';
import { parseBuildList } from '../client/answers.js';
import { type Answer, type Api, RequestRejected } from '../client/api.js';
import { type RecordedBuild, toBuild } from '../reports/builds.js';
import type { SkippedEntries } from '../reports/skipped-entries.js';

/** So many builds are asked for ahead. */
const PREFETCHED_BUILDS = 3;

/** The builds of another server of the protocol, oldest first: what was recorded last then counts as the last. */
export async function* remoteBuilds(from: Api, most: number, leftovers: SkippedEntries, progress: Progress): AsyncGenerator<RecordedBuild> {
  const ids = await listBuildIds(from, most, progress);
  const asked: Promise<RecordedBuild | null>[] = [];
  for (let i = 0; i < ids.length; i++) {
    for (let next = i + asked.length; asked.length < PREFETCHED_BUILDS && next < ids.length; next++) {
      const build = fetchBuild(from, ids[next]!);
      // Told when it is its turn, if ever.
      build.catch(() => {});
      asked.push(build);
    }
    progress.show(() => `build ${(i + 1).toLocaleString('en')} of ${ids.length.toLocaleString('en')}`);
    const build = await asked.shift()!;
    if (build) yield build;
    else leftovers.add('the build was deleted meanwhile', ids[i]!);
  }
}

/**
 * Of the newest builds, oldest first. Servers list the newest first: a build that is recorded meanwhile shifts the pages, and
 * then one comes twice, and none is missed.
 */
async function listBuildIds(from: Api, most: number, progress: Progress): Promise<string[]> {
  const listed = new Map<string, string>();
  for (let page = 1; ; page++) {
    const { data, meta } = await from.get(`/v1/builds?page=${page}`, parseBuildList);
    for (const { id, created_at } of data) if (listed.size < most) listed.set(id, created_at ?? '');
    progress.show(() => `${listed.size.toLocaleString('en')} builds found`);
    if (data.length === 0 || listed.size >= most || meta?.is_last_page !== false) break;
  }
  const oldestFirst = [...listed].reverse().sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
  return oldestFirst.map(([id]) => id);
}

/** A build with its runs; null when it was deleted. */
export async function fetchBuild(from: Api, id: string): Promise<RecordedBuild | null> {
  let answer;
  try {
    answer = await from.get(`/v1/builds/${encodeURIComponent(id)}`, acceptAnyBody);
  } catch (error) {
    if (error instanceof RequestRejected && error.status === 404) return null;
    throw error;
  }
  try {
    return toBuild(answer.body);
  } catch (error) {
    throw new RequestRejected(`build ${id} of ${from.options.url} cannot be read: ${(error as Error).message}`, answer.status);
  }
}

/** Accepts any body: toBuild says in detail why it is not a build. */
function acceptAnyBody(answer: Answer): Answer | null {
  return answer.status === 200 ? answer : null;
}
