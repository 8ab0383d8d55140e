import { wholeMilliseconds } from '../../../base/rounding.js';
import { pathsOfQueue } from '../../engine/planned-files.js';
import type { Build } from '../../engine/ports/builds.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { FileFailure } from '../../engine/ports/failures.js';
import type { Store } from '../../engine/ports/store.js';
import { batchesOf } from '../../engine/queues.js';
import { failedCases } from '../minutes/failed-cases.js';

/** Only for the first files is this read: each costs some reads. */
const MOST_FILES = 20;
/** Test cases of a file that are kept. One whose name has more characters is not. */
const MOST_CASES = 3;
const CASE_CHARACTERS = 500;

/**
 * Adds to the first files that failed in CI runs of a build what ran before them, which of their test cases failed, and what a retry on the same node
 * took: that node records the file once. A report of a later CI run takes the place of an earlier one, so names that the build already has stay if no
 * report has any.
 *
 * @param ciRuns oldest first
 */
export async function addCircumstances(store: Store, build: Build, ciRuns: readonly CiRun[], files: readonly FileFailure[]): Promise<void> {
  if (files.length === 0) return;
  const known = new Map((await store.failures.of(build))?.files.map(({ path, cases }) => [path, cases]));
  const queues = ciRuns.filter(({ kind }) => kind === 'queue');
  const first = files.slice(0, MOST_FILES);
  const nodes = new Set(first.map(({ node_index }) => node_index));
  const told = await Promise.all(queues.map(ciRun => toldByBatches(store, ciRun, nodes)));
  for (const file of first) {
    const path = await store.builds.path(file.path);
    const own = told.flatMap(each => each.get(`${file.node_index} ${path}`) ?? []);
    const before = own.find(each => each.before !== null)?.before;
    if (before) file.before = await store.builds.pathNumber(build.project, before);
    if (file.isFlaky) file.seconds = wholeMilliseconds(own.reduce((sum, { retried }) => sum + retried, file.seconds));
    const cases = await failedCases(store, { project: build.project, build }, ciRuns, path);
    const kept = cases.filter(({ length }) => length <= CASE_CHARACTERS).slice(0, MOST_CASES);
    file.cases = kept.length > 0 ? kept : (known.get(file.path) ?? []);
  }
}

/** What the batches of a queue tell of a file that failed on a node. */
interface FailedInBatch {
  /** The path that ran just before it, in the same batch; null: it was the first. */
  before: string | null;
  /** The seconds of its retries on that node. */
  retried: number;
}

/** The files that failed in the batches of these nodes, by node and path. */
async function toldByBatches(store: Store, { plan }: CiRun, nodes: ReadonlySet<number>): Promise<Map<string, FailedInBatch>> {
  const own = (await batchesOf(store.queues, plan)).own.filter(({ node_index }) => nodes.has(node_index));
  const failed = own.flatMap(({ node_index, files, failed = [], retry }) =>
    retry ? [] : failed.map(file => ({ node_index, file, before: files[files.indexOf(file) - 1] ?? null })),
  );
  const indices = [...new Set(failed.flatMap(({ file, before }) => (before === null ? [file] : [file, before])))];
  const paths = await pathsOfQueue(store, plan, indices);
  const pathOf = new Map(indices.map((index, i) => [index, paths[i]!]));
  const retried = new Map<string, number>();
  for (const { retry, node_index, files, times } of own) {
    const key = `${node_index} ${files[0]}`;
    if (retry) retried.set(key, (retried.get(key) ?? 0) + Math.max(0, times?.[0] ?? 0) / 1000);
  }
  return new Map(
    failed.map(({ node_index, file, before }) => [
      `${node_index} ${pathOf.get(file)}`,
      { before: before === null ? null : pathOf.get(before)!, retried: retried.get(`${node_index} ${file}`) ?? 0 },
    ]),
  );
}
