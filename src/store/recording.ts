import { randomUUID } from 'node:crypto';
import { limits } from '../limits.js';
import type { NodeKey } from '../wire/build-key.js';
import type { RecordedTestFile } from '../wire/test-file.js';
import { buildIdKey, filterKeys } from './builds.js';
import { commit, type Store } from './open.js';
import type { BuildRecord, Millis } from './records.js';
import { type Measured, putTimings, timingKey } from './timings.js';

export type Recorded = 'recorded' | 'known' | 'retried too often';

/** One run of a node: its test files as JSON, how many, and the times of those measured. */
export interface RecordedRun extends Measured {
  json: string;
  count: number;
}

/** What is recorded of a list of test files; those of 0 seconds were not measured. */
export function toRecordedRun(project: number, testFiles: readonly RecordedTestFile[]): RecordedRun {
  const files = testFiles.map(({ path, time_execution }) => ({ path, time_execution }));
  const measured = files.filter(({ time_execution }) => time_execution > 0);
  return {
    json: JSON.stringify(files),
    count: files.length,
    timingKeys: measured.map(({ path }) => timingKey(project, path)),
    seconds: Float64Array.from(measured, ({ time_execution }) => time_execution),
  };
}

/**
 * Records one run of a node with its timings; creates its build at the first one. Durable when it resolves.
 * @param isRetry the client sent this request before: what the node recorded last, word for word, is `known`
 */
export async function recordSubset(
  store: Store,
  project: number,
  key: NodeKey,
  run: RecordedRun,
  isRetry: boolean,
  now: Millis,
): Promise<Recorded> {
  let next: number | null = null;
  const recorded = await commit(store, () => {
    const outcome = putSubset(store, project, key, run, isRetry, now);
    if (outcome !== 'retried too often') next = putTimings(store, run, 0, now);
    return outcome;
  });
  while (next !== null) {
    const from: number = next;
    next = await commit(store, () => putTimings(store, run, from, now));
  }
  return recorded;
}

function putSubset(store: Store, project: number, key: NodeKey, run: RecordedRun, isRetry: boolean, now: Millis): Recorded {
  const idKey = buildIdKey(project, key);
  const known = store.buildIds.get(idKey);
  const id = known ?? randomUUID();
  const node = store.nodeRuns.get([id, key.node_index]);
  if (isRetry && node && store.subsets.get([id, -node.recorded_at, node.subset])?.test_files === run.json) {
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
    test_files: build.test_files + run.count,
  });
  void store.subsets.put([id, -now, subset], {
    v: 1,
    node_index: key.node_index,
    created_at: now,
    test_files: run.json,
    count: run.count,
  });
  void store.nodeRuns.put([id, key.node_index], { v: 1, runs: (node?.runs ?? 0) + 1, subset, recorded_at: now });
  void store.expiry.put([now, 'subset', id, -now, subset], true);
  return 'recorded';
}

/** Within a write transaction: deletes a subset, and its build with the last one. Returns how many records it changed. */
export function deleteSubset(store: Store, id: string, minusCreatedAt: number, subset: string): number {
  const record = store.subsets.get([id, minusCreatedAt, subset]);
  const build = store.builds.get(id);
  if (!record || !build) return 0;
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
    return 3;
  }
  const filters = filterKeys(build);
  void store.builds.remove(id);
  void store.buildIds.remove(buildIdKey(build.project, build));
  for (const filter of filters) {
    void store.buildIndex.remove([filter, -build.created_at, id]);
    const left = (store.buildCounts.get(filter) ?? 1) - 1;
    if (left > 0) void store.buildCounts.put(filter, left);
    else void store.buildCounts.remove(filter);
  }
  return 4 + 2 * filters.length;
}
