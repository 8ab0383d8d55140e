import type { BuildAnswer, BuildDetail } from '../api/messages/build.js';
import type { LastDistribution } from '../api/messages/split.js';
import type { TestPathsAnswer } from '../api/messages/test-paths.js';
import { apiErrors } from '../api-error.js';
import { mergeSubsets } from '../engine/merge.js';
import type { Build, Run, RunHead } from '../engine/ports/builds.js';
import { failedIn } from '../engine/queue/failed.js';
import type { RecordedTestFile } from '../engine/test-file.js';
import { limits } from '../limits.js';
import type { LmdbStore } from '../store/lmdb/store.js';
import { pathsIn } from './prepare.js';
import type { ReadAnswer } from './task.js';

/** Answers that grow with the suite: built on the main thread when small and in the pool when large. */

export function toBuildAnswer({ id, commit_hash, branch, node_total, created_at, updated_at }: Build): BuildAnswer {
  return { id, commit_hash, branch, node_total, created_at: toIso(created_at), updated_at: toIso(updated_at) };
}

/** A build with all its runs, newest first, as JSON. For large builds see build-pieces.ts. */
export function buildDetail(store: LmdbStore, build: Build): ReadAnswer {
  const runs = runsOf(store, build).sort((a, b) => b.created_at - a.created_at);
  const build_subsets = runs.map(run => ({ ...toSubsetAnswer(run), test_files: testFilesOf(run) }));
  const answer: BuildDetail = { ...toBuildAnswer(build), build_subsets };
  return { status: 200, body: JSON.stringify(answer) };
}

/** The JSON of a build up to its first run. */
export function headOfBuild(build: Build): string {
  return JSON.stringify({ ...toBuildAnswer(build), build_subsets: [] }).slice(0, -2);
}

/** The JSON of a run up to its first test file. */
export function headOfSubset(subset: Pick<RunHead, 'id' | 'node_index' | 'created_at'>): string {
  return JSON.stringify({ ...toSubsetAnswer(subset), test_files: [] }).slice(0, -2);
}

function toSubsetAnswer({ id, node_index, created_at }: Pick<RunHead, 'id' | 'node_index' | 'created_at'>) {
  const at = toIso(created_at);
  return { id, node_index, created_at: at, updated_at: at };
}

/** What failed in a queue, as JSON: as far as its clients reported it and it is on disk. */
export function failedTestPaths(store: LmdbStore, queue: string): ReadAnswer {
  const failed = failedIn(store.queues.batches(queue));
  const paths = failed.size === 0 ? [] : pathsIn(store.queues.files(queue, [...failed.keys()]));
  const answer: TestPathsAnswer = { failed_paths: [...failed.values()].flatMap((cases, i) => cases ?? paths[i]!) };
  return { status: 200, body: JSON.stringify(answer) };
}

/** What all nodes and retries of a build recorded, as JSON. Throws a 422 when that is too much to merge. */
export function recordedDistribution(store: LmdbStore, build: Build): ReadAnswer {
  if (build.test_files > limits.mergedTestFiles) throw apiErrors.buildTooLarge('recorded test files', limits.mergedTestFiles);
  const test_files = mergeSubsets(runsOf(store, build).map(testFilesOf));
  const total = test_files.reduce((sum, file) => sum + file.time_execution, 0);
  // Absurd records may add up to infinity, which JSON has not.
  const time_execution = Math.min(total, Number.MAX_VALUE);
  const answer: LastDistribution = { build_distribution_id: build.id, time_execution, test_files };
  return { status: 200, body: JSON.stringify(answer) };
}

function runsOf({ builds }: LmdbStore, { number }: Build): Run[] {
  const count = characterCounter();
  return builds.runs(number).flatMap(head => {
    const run = builds.run(number, head);
    for (const path of run?.paths ?? []) count(path);
    return run ?? [];
  });
}

/** Counts characters of paths, each path once. Throws a 422 when there are too many. */
export function characterCounter(): (path: string) => void {
  const counted = new Set<string>();
  let characters = 0;
  return path => {
    if (counted.has(path)) return;
    counted.add(path);
    characters += path.length;
    if (characters > limits.mergedCharacters) throw apiErrors.buildTooLarge('characters of paths', limits.mergedCharacters);
  };
}

function testFilesOf({ paths, seconds }: Run): RecordedTestFile[] {
  return paths.map((path, i) => ({ path, time_execution: seconds[i]! }));
}

function toIso(millis: number): string {
  return new Date(millis).toISOString();
}
