import { mergeSubsets } from '../engine/merge.js';
import { type Build, subsetsOf } from '../store/builds.js';
import type { Store } from '../store/open.js';
import type { BuildAnswer, BuildDetail } from '../wire/build.js';
import type { LastDistribution } from '../wire/split.js';
import type { ReadAnswer } from './task.js';

/** Answers that grow with the suite: built on the main thread when small and in the pool when large. */

export function toBuildAnswer({ id, commit_hash, branch, node_total, created_at, updated_at }: Build): BuildAnswer {
  return { id, commit_hash, branch, node_total, created_at: toIso(created_at), updated_at: toIso(updated_at) };
}

/** A build with all its runs, newest first, as JSON. */
export function buildDetail(store: Store, build: Build): ReadAnswer {
  const build_subsets = subsetsOf(store, build).map(({ id, node_index, created_at, test_files }) => {
    const at = toIso(created_at);
    return { id, node_index, created_at: at, updated_at: at, test_files };
  });
  const answer: BuildDetail = { ...toBuildAnswer(build), build_subsets };
  return { status: 200, body: JSON.stringify(answer) };
}

/** What was recorded for a build over all its nodes and retries, as JSON. */
export function recordedDistribution(store: Store, build: Build): ReadAnswer {
  const runs = subsetsOf(store, build).map(({ test_files }) => test_files);
  const test_files = mergeSubsets(runs);
  const total = test_files.reduce((sum, file) => sum + file.time_execution, 0);
  // Absurd records may add up to infinity, which JSON has not.
  const time_execution = Math.min(total, Number.MAX_VALUE);
  const answer: LastDistribution = { build_distribution_id: build.id, time_execution, test_files };
  return { status: 200, body: JSON.stringify(answer) };
}

function toIso(millis: number): string {
  return new Date(millis).toISOString();
}
