import { limits } from '../limits.js';
import type { BuildKey, NodeKey } from '../wire/build-key.js';
import { digest } from './digest.js';
import type { Store } from './open.js';
import type { BuildRecord, Millis, SubsetRecord } from './records.js';

export interface Build extends BuildRecord {
  id: string;
}

export interface Subset extends SubsetRecord {
  id: string;
}

/** What narrows a list of builds; what is absent does not. */
export interface BuildFilter {
  commit_hash?: string;
  branch?: string;
  node_total?: number;
}

export function buildIdKey(project: number, key: BuildKey): string {
  return digest(project, key.commit_hash, key.branch, key.node_total);
}

function filterKey(project: number, filter: BuildFilter): string {
  return digest(project, filter.commit_hash ?? null, filter.branch ?? null, filter.node_total ?? null);
}

/** The eight filters that find a build. */
export function filterKeys(build: BuildRecord): string[] {
  const keys: string[] = [];
  for (let bits = 0; bits < 8; bits++) {
    keys.push(
      filterKey(build.project, {
        ...(bits & 1 && { commit_hash: build.commit_hash }),
        ...(bits & 2 && { branch: build.branch }),
        ...(bits & 4 && { node_total: build.node_total }),
      }),
    );
  }
  return keys;
}

/** How many builds there are. */
export function buildCount(store: Store, project: number, filter: BuildFilter): number {
  return store.buildCounts.get(filterKey(project, filter)) ?? 0;
}

/** One page (from 1) of the builds, newest first, and the number of all. */
export function listBuilds(
  store: Store,
  project: number,
  filter: BuildFilter,
  page: number,
): { total: number; builds: Build[] } {
  const key = filterKey(project, filter);
  const total = store.buildCounts.get(key) ?? 0;
  const offset = (page - 1) * limits.buildsPerPage;
  if (offset >= total) return { total, builds: [] };
  const entries = store.buildIndex.getKeys({ ...rangeOf(key), offset, limit: limits.buildsPerPage });
  return { total, builds: [...entries].map(([, , id]) => ({ ...store.builds.get(id)!, id })) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function findBuild(store: Store, project: number, id: string): Build | null {
  const known = id.toLowerCase();
  const record = UUID.test(known) ? store.builds.get(known) : undefined;
  return record?.project === project ? { ...record, id: known } : null;
}

/**
 * The recorded build that most closely matches: the same triple; else the newest of the same branch and
 * node_total; of the same branch; of the project. Null when the project has none.
 */
export function closestBuild(store: Store, project: number, key: BuildKey): Build | null {
  const { branch, node_total } = key;
  for (const filter of [key, { branch, node_total }, { branch }, {}]) {
    const [entry] = store.buildIndex.getKeys({ ...rangeOf(filterKey(project, filter)), limit: 1 });
    if (entry) return { ...store.builds.get(entry[2])!, id: entry[2] };
  }
  return null;
}

/** All recorded runs of a build, newest first. */
export function* subsetsOf(store: Store, id: string): Generator<Subset> {
  for (const { key, value } of store.subsets.getRange(rangeOf(id))) yield { ...value, id: key[2] };
}

/** The last recorded run of a node since the given time, null when there is none. */
export function lastSubsetId(store: Store, project: number, key: NodeKey, since: Millis): string | null {
  const id = store.buildIds.get(buildIdKey(project, key));
  const node = id === undefined ? undefined : store.nodeRuns.get([id, key.node_index]);
  return node && node.recorded_at >= since ? node.subset : null;
}

/** All keys [first, time, id]. */
function rangeOf(first: string): { start: [string, number, string]; end: [string, number, string] } {
  return { start: [first, -Infinity, ''], end: [first, Infinity, ''] };
}
