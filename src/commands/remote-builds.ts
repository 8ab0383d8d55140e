import { type RecordedBuild, toBuild } from '../reports/builds.js';
import type { Leftovers } from '../reports/suite-times.js';
import type { Progress } from './progress.js';
import { read, Refused, type Remote } from './remote.js';

/** So many builds are asked for ahead. */
const AHEAD = 3;

interface Page {
  data?: { id: string }[];
  meta?: { is_last_page?: boolean; next_page?: number | null };
}

/** The builds of another server of the protocol, oldest first: what was recorded last then counts as the last. */
export async function* remoteBuilds(from: Remote, most: number, leftovers: Leftovers, progress: Progress): AsyncGenerator<RecordedBuild> {
  const ids = [...(await newestIds(from, most, progress))].reverse();
  const asked: Promise<RecordedBuild | null>[] = [];
  for (let i = 0; i < ids.length; i++) {
    for (let next = i + asked.length; asked.length < AHEAD && next < ids.length; next++) {
      const build = buildOf(from, ids[next]!);
      // Told when it is its turn, if ever.
      build.catch(() => {});
      asked.push(build);
    }
    progress.tell(() => `build ${(i + 1).toLocaleString('en')} of ${ids.length.toLocaleString('en')}`);
    const build = await asked.shift()!;
    if (build) yield build;
    else leftovers.add('the build was deleted meanwhile', ids[i]!);
  }
}

/** Newest first. A build that is recorded meanwhile shifts the pages: then one comes twice, and none is missed. */
async function newestIds(from: Remote, most: number, progress: Progress): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let page = 1; ; page++) {
    const { data, meta } = (await read(from, `/builds?page=${page}`)) as Page;
    if (!Array.isArray(data) || data.some(build => typeof build?.id !== 'string')) throw new Error(`${from.url} answered GET /builds with no list of builds: is it a server of this protocol?`);
    for (const { id } of data) {
      ids.add(id);
      if (ids.size >= most) return ids;
    }
    progress.tell(() => `${ids.size.toLocaleString('en')} builds found`);
    if (data.length === 0 || meta?.is_last_page !== false) return ids;
  }
}

async function buildOf(from: Remote, id: string): Promise<RecordedBuild | null> {
  let answer;
  try {
    answer = await read(from, `/builds/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
  try {
    return toBuild(answer);
  } catch (error) {
    throw new Error(`build ${id} of ${from.url} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
