import type { AssignedFile, Comparison } from '../engine/completeness/compare.js';
import type { Completeness } from '../engine/completeness/completeness.js';
import type { Build, RunHead } from '../engine/ports/builds.js';
import { limits } from '../limits.js';
import { timestamp } from '../time.js';
import type { BuildAnswer, BuildDetail, BuildSubset } from './messages/build.js';
import type { CompletenessAnswer } from './messages/completeness.js';

/** Builds, runs and comparisons in the form that the API returns. */

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

/** Without what it is about: requests that ask the same share a comparison. */
export function completenessAnswer({
  assigned,
  comparison,
  errors,
  mayBeEmpty,
  warnings,
}: Completeness): Omit<CompletenessAnswer, 'about'> {
  const { recorded, neverHandedOut, notRecorded, notRun, ranNotRecorded, recordedTwice, recordedByOthers, neverCame } = comparison;
  return {
    is_complete: errors.length === 0,
    kind: assigned?.kind ?? null,
    test_files: assigned?.handed.size ?? 0,
    recorded,
    errors,
    may_be_empty: mayBeEmpty && Math.max(notRecorded.length, notRun.length) <= limits.completenessEntries,
    warnings,
    never_handed_out: cut(neverHandedOut).map(path => ({ path })),
    handed_out_not_recorded: cut(notRecorded).map(({ path, node_index, at }) => ({
      path,
      node_index,
      handed_out_at: at === null ? null : timestamp(at),
    })),
    ran_not_recorded: cut(ranNotRecorded).map(({ path, node_index }: AssignedFile) => ({ path, node_index })),
    handed_on: cut(assigned?.reassigned ?? []),
    recorded_twice: cut(recordedTwice).map(({ path, nodes }: Comparison['recordedTwice'][number]) => ({ path, node_indexes: cut(nodes) })),
    recorded_not_handed_out: assigned ? cut(recordedByOthers) : [],
    recorded_without_time: cut(notRun).map(({ path, node_index }) => ({ path, node_index })),
    nodes_never_came: cut(neverCame),
  };
}

function cut<T>(list: readonly T[]): T[] {
  return list.slice(0, limits.completenessEntries);
}
