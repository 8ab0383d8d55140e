import type { BuildAnswer, BuildDetail } from '../api/messages/build.js';
import type { LastDistribution } from '../api/messages/split.js';
import type { TestPathsAnswer } from '../api/messages/test-paths.js';
import { apiErrors } from '../api-error.js';
import { mergeSubsets } from '../engine/merge.js';
import { failedIn } from '../engine/queue/failed.js';
import { limits } from '../limits.js';
import { type Build, eachSubset, type Subset, subsetsOf } from '../store/lmdb/builds.js';
import { pathsOf } from '../store/lmdb/file-blocks.js';
import type { Parts } from '../store/lmdb/open.js';
import { batchesOf } from '../store/lmdb/open-queue.js';
import type { ReadAnswer } from './task.js';

/** Answers that grow with the suite: built on the main thread when small and in the pool when large. */

export function toBuildAnswer({ id, commit_hash, branch, node_total, created_at, updated_at }: Build): BuildAnswer {
  return { id, commit_hash, branch, node_total, created_at: toIso(created_at), updated_at: toIso(updated_at) };
}

/** A build with all its runs, newest first, as JSON. For large builds see build-pieces.ts. */
export function buildDetail(store: Parts, build: Build): ReadAnswer {
  const build_subsets = subsetsOf(store, build).map(subset => ({ ...toSubsetAnswer(subset), test_files: subset.test_files }));
  const answer: BuildDetail = { ...toBuildAnswer(build), build_subsets };
  return { status: 200, body: JSON.stringify(answer) };
}

/** The JSON of a build up to its first run. */
export function headOfBuild(build: Build): string {
  return JSON.stringify({ ...toBuildAnswer(build), build_subsets: [] }).slice(0, -2);
}

/** The JSON of a run up to its first test file. */
export function headOfSubset(subset: Omit<Subset, 'test_files'>): string {
  return JSON.stringify({ ...toSubsetAnswer(subset), test_files: [] }).slice(0, -2);
}

function toSubsetAnswer({ id, node_index, created_at }: Omit<Subset, 'test_files'>) {
  const at = toIso(created_at);
  return { id, node_index, created_at: at, updated_at: at };
}

/** What failed in a queue, as JSON: as far as its clients reported it and it is on disk. */
export function failedTestPaths(store: Parts, queue: string): ReadAnswer {
  const failed = failedIn(batchesOf(store, queue));
  const paths = failed.size === 0 ? [] : pathsOf(store, queue, [...failed.keys()]);
  const answer: TestPathsAnswer = { failed_paths: [...failed.values()].flatMap((cases, i) => cases ?? paths[i]!) };
  return { status: 200, body: JSON.stringify(answer) };
}

/** What all nodes and retries of a build recorded, as JSON. Throws a 422 when that is too much to merge. */
export function recordedDistribution(store: Parts, build: Build): ReadAnswer {
  if (build.test_files > limits.mergedTestFiles) throw apiErrors.buildTooLarge('recorded test files', limits.mergedTestFiles);
  const test_files = mergeSubsets(testFilesOf(store, build));
  const total = test_files.reduce((sum, file) => sum + file.time_execution, 0);
  // Absurd records may add up to infinity, which JSON has not.
  const time_execution = Math.min(total, Number.MAX_VALUE);
  const answer: LastDistribution = { build_distribution_id: build.id, time_execution, test_files };
  return { status: 200, body: JSON.stringify(answer) };
}

function* testFilesOf(store: Parts, build: Build): Generator<Subset['test_files']> {
  for (const { test_files } of eachSubset(store, build)) yield test_files;
}

function toIso(millis: number): string {
  return new Date(millis).toISOString();
}
