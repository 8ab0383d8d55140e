import type { Build, RunHead } from '../engine/ports/builds.js';
import { timestamp } from '../time.js';
import type { BuildAnswer, BuildDetail, BuildSubset } from './messages/build.js';

/** Builds and runs in the form that the API returns. */

export function buildAnswer({ id, commit_hash, branch, node_total, created_at, updated_at }: Build): BuildAnswer {
  return { id, commit_hash, branch, node_total, created_at: timestamp(created_at), updated_at: timestamp(updated_at) };
}

export function subsetAnswer({ id, node_index, created_at }: RunHead, test_files: BuildSubset['test_files']): BuildSubset {
  const at = timestamp(created_at);
  return { id, node_index, created_at: at, updated_at: at, test_files };
}

/** The JSON of a build up to its first run. */
export function headOfBuild(build: Build): string {
  return JSON.stringify({ ...buildAnswer(build), build_subsets: [] } satisfies BuildDetail).slice(0, -2);
}

/** The JSON of a run up to its first test file. */
export function headOfSubset(head: RunHead): string {
  return JSON.stringify(subsetAnswer(head, [])).slice(0, -2);
}
