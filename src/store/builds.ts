import { randomUUID } from 'node:crypto';
import { limits } from '../limits.js';
import type { BuildKey, NodeKey } from '../wire/build-key.js';
import { digest } from './digest.js';
import { commit, type Store } from './open.js';
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
function filterKeys(build: BuildRecord): string[] {
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

export type Recorded = 'recorded' | 'known' | 'retried too often';

/**
 * Records one run of a node: creates its build at the first one. Durable when it resolves.
 * @param isRetry the client sent this request before: what the node recorded last, word for word, is `known`
 */
export function recordSubset(
  store: Store,
  project: number,
  key: NodeKey,
  testFiles: { json: string; count: number },
  isRetry: boolean,
  now: Millis,
): Promise<Recorded> {
  return commit(store, () => {
    const idKey = buildIdKey(project, key);
    const known = store.buildIds.get(idKey);
    const id = known ?? randomUUID();
    const node = store.nodeRuns.get([id, key.node_index]);
    if (isRetry && node && store.subsets.get([id, -node.recorded_at, node.subset])?.test_files === testFiles.json) {
      return 'known';
    }
    if (node && node.runs >= limits.runsPerNode) return 'retried too often';

    const build: BuildRecord = known
      ? store.builds.get(known)!
      : {
          v: 1,
          project,
          commit_hash: key.commit_hash,
          branch: key.branch,
          node_total: key.node_total,
          created_at: now,
          updated_at: now,
          subsets: 0,
          test_files: 0,
        };
    if (!known) {
      void store.buildIds.put(idKey, id);
      for (const filter of filterKeys(build)) {
        void store.buildIndex.put([filter, -now, id], true);
        void store.buildCounts.put(filter, (store.buildCounts.get(filter) ?? 0) + 1);
      }
    }
    const subset = randomUUID();
    void store.builds.put(id, {
      ...build,
      updated_at: Math.max(now, build.updated_at),
      subsets: build.subsets + 1,
      test_files: build.test_files + testFiles.count,
    });
    void store.subsets.put([id, -now, subset], {
      v: 1,
      node_index: key.node_index,
      created_at: now,
      updated_at: now,
      test_files: testFiles.json,
      count: testFiles.count,
    });
    void store.nodeRuns.put([id, key.node_index], { v: 1, runs: (node?.runs ?? 0) + 1, subset, recorded_at: now });
    void store.expiry.put([now, 'subset', id, -now, subset], true);
    return 'recorded';
  });
}

/** Within a write transaction: deletes a subset, and its build with the last one. */
export function deleteSubset(store: Store, id: string, minusCreatedAt: number, subset: string): void {
  const record = store.subsets.get([id, minusCreatedAt, subset]);
  const build = store.builds.get(id);
  if (!record || !build) return;
  void store.subsets.remove([id, minusCreatedAt, subset]);
  const node = store.nodeRuns.get([id, record.node_index]);
  if (node && node.runs > 1) void store.nodeRuns.put([id, record.node_index], { ...node, runs: node.runs - 1 });
  else void store.nodeRuns.remove([id, record.node_index]);
  if (build.subsets > 1) {
    void store.builds.put(id, {
      ...build,
      subsets: build.subsets - 1,
      test_files: build.test_files - record.count,
    });
    return;
  }
  void store.builds.remove(id);
  void store.buildIds.remove(buildIdKey(build.project, build));
  for (const filter of filterKeys(build)) {
    void store.buildIndex.remove([filter, -build.created_at, id]);
    const left = (store.buildCounts.get(filter) ?? 1) - 1;
    if (left > 0) void store.buildCounts.put(filter, left);
    else void store.buildCounts.remove(filter);
  }
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

export function findBuild(store: Store, project: number, id: string): Build | null {
  const record = store.builds.get(id);
  return record?.project === project ? { ...record, id } : null;
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
