import { randomUUID } from 'node:crypto';
import { limits } from '../limits.js';
import { fileOf } from '../plan/times/test-case.js';
import type { NodeKey } from '../wire/build-key.js';
import type { RecordedTestFile } from '../wire/test-file.js';
import { buildIdKey, filterKeys } from './builds.js';
import { noteBuild } from './default-branch.js';
import { commit, type Store } from './open.js';
import type { BuildRecord, Millis } from './records.js';
import { TimingKeys } from './timing-keys.js';
import { type Measured, putTimings, type RunOf } from './timings.js';

export type Recorded = 'recorded' | 'known' | 'retried too often';

/** One run of a node: its test files as JSON, how many, and the times of those measured. */
export interface RecordedRun extends Measured {
  json: string;
  count: number;
  hasTestCases: boolean;
}

/** What is recorded of a list of test files; those of 0 seconds were not measured. */
export function toRecordedRun(project: number, testFiles: readonly RecordedTestFile[]): RecordedRun {
  const files = testFiles.map(({ path, time_execution }) => ({ path, time_execution }));
  const measured = files.filter(({ time_execution }) => time_execution > 0);
  const keys = new TimingKeys(project);
  return {
    json: JSON.stringify(files),
    count: files.length,
    hasTestCases: measured.some(({ path }) => fileOf(path) !== null),
    timingKeys: measured.map(({ path }) => keys.of(path)),
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
  const put = await commit(store, () => {
    const of = putSubset(store, project, key, run, isRetry, now);
    return of && { of, next: putTimings(store, run, 0, of) };
  });
  if (!put) return 'retried too often';
  for (let { next } = put; next !== null; ) {
    const from: number = next;
    next = await commit(store, () => putTimings(store, run, from, put.of));
  }
  return put.of.run === 'resent' ? 'known' : 'recorded';
}

/** Null when the node was retried too often. */
function putSubset(
  store: Store,
  project: number,
  key: NodeKey,
  run: RecordedRun,
  isRetry: boolean,
  now: Millis,
): RunOf | null {
  const idKey = buildIdKey(project, key);
  const known = store.buildIds.get(idKey);
  const id = known ?? randomUUID();
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
  const of = { project, branch: key.branch, build: id, began: build.created_at };
  const node = store.nodeRuns.get([id, key.node_index]);
  if (isRetry && node && store.subsets.get([id, -node.recorded_at, node.subset])?.test_files === run.json) {
    return { ...of, run: 'resent', at: node.recorded_at };
  }
  if (node && node.runs >= limits.runsPerNode) return null;

  if (!known) {
    void store.buildIds.put(idKey, id);
    for (const filter of filterKeys(build)) {
      void store.buildIndex.put([filter, -now, id], true);
      void store.buildCounts.put(filter, (store.buildCounts.get(filter) ?? 0) + 1);
    }
    noteBuild(store, project, key.branch);
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
  if (run.hasTestCases) noteTestCases(store, project);
  return { ...of, run: node ? 'retried' : 'first', at: now };
}

/** A file that was never recorded itself is then looked for among test cases. */
function noteTestCases(store: Store, project: number): void {
  const record = store.projects.get(project);
  if (record && !record.has_test_cases) void store.projects.put(project, { ...record, has_test_cases: true });
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
