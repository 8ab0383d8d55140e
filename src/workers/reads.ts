import { completenessAnswer } from '../api/answers.js';
import type { LastDistribution } from '../api/messages/split.js';
import type { TestPathsAnswer } from '../api/messages/test-paths.js';
import { boundedRuns } from '../engine/builds.js';
import type { CompletenessSubject } from '../engine/completeness/assigned.js';
import { completeness } from '../engine/completeness/completeness.js';
import { mergeRuns } from '../engine/merge.js';
import type { Build } from '../engine/ports/builds.js';
import type { Store } from '../engine/ports/store.js';
import { failedPaths } from '../engine/queues.js';

/** JSON. From a worker thread it comes as bytes. */
export type Json = string | Uint8Array;

export interface CompletenessJson {
  isComplete: boolean;
  json: Json;
}

/** Whether every test file of a CI run is recorded. */
export async function completenessJson(store: Store, subject: CompletenessSubject): Promise<CompletenessJson> {
  const answer = completenessAnswer(await completeness(store, subject));
  return { isComplete: answer.is_complete, json: JSON.stringify(answer) };
}

/** The test files that all nodes and retries of a build recorded. Throws a 422 when they are too many to merge. */
export async function distributionJson({ builds }: Store, build: Build): Promise<{ json: Json }> {
  const test_files = await mergeRuns(boundedRuns(builds, build, await builds.runs(build.number)));
  const total = test_files.reduce((sum, file) => sum + file.time_execution, 0);
  // Absurdly large times may add up to infinity, which JSON does not have.
  const time_execution = Math.min(total, Number.MAX_VALUE);
  return { json: JSON.stringify({ build_distribution_id: build.id, time_execution, test_files } satisfies LastDistribution) };
}

/** The paths that failed in a queue. */
export async function failedPathsJson(store: Store, queue: string): Promise<{ json: Json }> {
  return { json: JSON.stringify({ failed_paths: await failedPaths(store, queue) } satisfies TestPathsAnswer) };
}
