import type { Split } from '../../../engine/ports/splits.js';
import { wasReassigned } from '../../../engine/queue/batch.js';
import { refusals } from '../../../engine/refusal.js';
import type { TestFileList } from '../../../engine/suites/compare-lists.js';
import { digestOfList } from '../../../list-digest.js';
import { decodeBasis } from '../../../planning/estimating/basis.js';
import { filesOfNode, filesOfQueue } from '../../codecs/file-blocks.js';
import type { Parts } from '../parts.js';
import { BASIS, blocksIn, blocksOf, weightsOfQueue } from '../plan-blobs.js';
import { batchesOf } from '../read-queue.js';
import type { QueueRecord } from '../records.js';
import type { Problem, ProblemOf } from './problem.js';

/** Problems of the files of a split: those that are missing or listed twice. */
export function* problemsOfSplit(parts: Parts, split: Split, problem: ProblemOf): Generator<Problem> {
  if (!parts.forecasts.doesExist(split.id)) yield problem('has no forecast');
  const paths: string[] = [];
  for (let node = 0; node < split.node_total; node++) {
    try {
      const files = filesOfNode(blocksIn(parts, split.id), split.id, node);
      if (!files) yield problem(`has no files for node ${node}`);
      else for (const path of pathsIn(files)) paths.push(path);
    } catch (error) {
      yield problem(`has files for node ${node} that cannot be read: ${(error as Error).message}`);
    }
  }
  yield* problemsOfPaths(paths, split.list, problem);
  yield* problemsOfBasis(parts, split.id, paths.length, problem);
}

function* problemsOfPaths(paths: readonly string[], list: TestFileList, problem: ProblemOf): Generator<Problem> {
  const seen = new Set<string>();
  const twice = paths.find(path => seen.size === seen.add(path).size);
  if (twice !== undefined) yield problem(`has the file ${JSON.stringify(twice)} twice`);
  if (list.digest !== digestOfList(paths)) yield problem('has other files than its list');
}

function* problemsOfBasis(parts: Parts, id: string, files: number, problem: ProblemOf): Generator<Problem> {
  const bytes = parts.blobs.get([id, BASIS]);
  if (!bytes) yield problem('has no basis of estimates');
  try {
    if (bytes) decodeBasis(bytes, files);
  } catch (error) {
    yield problem((error as Error).message);
  }
}

/** Problems of the files of a queue, and of batches that do not fit them. */
export function* problemsOfQueue(parts: Parts, id: string, queue: QueueRecord, problem: ProblemOf): Generator<Problem> {
  if (!parts.forecasts.doesExist(id)) yield problem('has no forecast');
  let files = 0;
  try {
    const weights = weightsOfQueue(parts, id);
    files = weights.length;
    const blocks = blocksOf(parts, id, files);
    if (blocks.found !== blocks.expected) yield problem(`has ${files} weights and ${blocks.found} blocks of files`);
    if (!weights.every((weight, i) => weight > 0 && (i === 0 || weight <= weights[i - 1]!))) yield problem('has weights in disorder');
    const list = filesOfQueue(blocksIn(parts, id), id, Array.from(weights.keys()));
    if (!list) throw refusals.expired('queue');
    const paths = pathsIn(list);
    if (paths.length !== files) yield problem(`has ${files} weights and ${paths.length} files`);
    yield* problemsOfPaths(paths, queue.list, problem);
  } catch (error) {
    yield problem(`has files that cannot be read: ${(error as Error).message}`);
    return;
  }
  yield* problemsOfBasis(parts, id, files, problem);
  const taken = new Map<number, number>();
  for (const batch of batchesOf(parts, id)) {
    const { seq, node_index } = batch;
    // A repeated batch, or one that was reassigned from a silent node.
    const isRepeated = batch.isReplay || wasReassigned(batch);
    if (node_index >= queue.node_total) yield problem(`handed batch ${seq} to node ${node_index} of ${queue.node_total}`);
    for (const file of batch.files) {
      if (file >= files) yield problem(`handed file ${file} of ${files} out with batch ${seq}`);
      else if (!isRepeated && taken.has(file))
        yield problem(`handed file ${file} out with batch ${taken.get(file)}, and with batch ${seq}`);
      if (!isRepeated) taken.set(file, seq);
    }
  }
}

function pathsIn(list: Buffer): string[] {
  return (JSON.parse(list.toString()) as { path: string }[]).map(({ path }) => path);
}
