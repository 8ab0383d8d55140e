import { asBuffer } from '../../../base/bytes.js';
import { digestOfList } from '../../../protocol/list-digest.js';
import { filesInPieces, pathsOfPieces } from '../../engine/pieces/cuts.js';
import type { PlanParts } from '../../engine/ports/plans.js';
import { type Batch, wasReassigned } from '../../engine/queue/batch.js';
import { refusals } from '../../engine/refusal.js';
import type { TestFileList } from '../../engine/suites/compare-lists.js';
import { allFirst } from '../../planning/batching/first-files.js';
import { decodeBasis } from '../../planning/estimating/basis.js';
import { blocksFor, filesOf, filesOfNode, type ReadBlock } from '../codecs/file-blocks.js';
import type { PartName } from '../codecs/plan-parts.js';
import type { Problem, ProblemOf } from './problem.js';

/** A split or queue as a store has it. */
export interface StoredPlan {
  id: string;
  node_total: number;
  list: TestFileList;
  readBlock: ReadBlock;
  /** Null: it has none. */
  part: <Name extends PartName>(name: Name) => PlanParts[Name] | null;
}

export interface StoredQueue extends StoredPlan {
  /** Number of its blocks of files. */
  blocks: number;
  batches(): Batch[];
}

/** Problems of the files of a split: those that are missing or listed twice. */
export function* problemsOfSplit(split: StoredPlan, problem: ProblemOf): Generator<Problem> {
  const paths: string[] = [];
  const ends = split.part('nodeEnds');
  for (let node = 0; node < split.node_total; node++) {
    try {
      const own = filesOfNode(ends ? asBuffer(ends) : undefined, split.id, node);
      const files = own && filesOf(split.readBlock, split.id, own);
      if (!files) yield problem(`has no files for node ${node}`);
      else for (const path of pathsIn(files)) paths.push(path);
    } catch (error) {
      yield problem(`has files for node ${node} that cannot be read: ${(error as Error).message}`);
    }
  }
  yield* problemsOfPaths(paths, paths, split.list, problem);
  yield* problemsOfBasis(split, paths.length, problem);
}

/** @param files of which the paths are all or pieces, which may repeat */
function* problemsOfPaths(paths: readonly string[], files: readonly string[], list: TestFileList, problem: ProblemOf): Generator<Problem> {
  const seen = new Set<string>();
  const twice = paths.find(path => seen.size === seen.add(path).size);
  if (twice !== undefined) yield problem(`has the file ${JSON.stringify(twice)} twice`);
  // The paths of files that are left out are not kept.
  const leftOut = list.proved?.test_files ?? 0;
  const isOfList = leftOut === 0 ? list.digest === digestOfList(files) : new Set(files).size + leftOut === list.test_files;
  if (!isOfList) yield problem('has other files than its list');
}

function* problemsOfBasis({ part }: StoredPlan, files: number, problem: ProblemOf): Generator<Problem> {
  const basis = part('basis');
  if (!basis) yield problem('has no basis of estimates');
  try {
    if (basis) decodeBasis(basis, files);
  } catch (error) {
    yield problem((error as Error).message);
  }
}

/** Problems of the files of a queue, and of batches that do not fit them. */
export function* problemsOfQueue(queue: StoredQueue, problem: ProblemOf): Generator<Problem> {
  const { id, node_total } = queue;
  let files = 0;
  try {
    const weights = queue.part('weights') ?? new Float64Array(0);
    files = weights.length;
    if ((files === 0 && !queue.list.proved) || queue.blocks !== blocksFor(files))
      yield problem(`has ${files} weights and ${queue.blocks} blocks of files`);
    if (!weights.every((weight, i) => weight > 0 && (i === 0 || weight <= weights[i - 1]!))) yield problem('has weights in disorder');
    const list = filesOf(queue.readBlock, id, Array.from(weights.keys()));
    if (!list) throw refusals.expired('queue');
    const paths = pathsIn(list);
    if (paths.length !== files) yield problem(`has ${files} weights and ${paths.length} files`);
    const first = queue.part('first');
    if (first && !allFirst(first).every(file => file < files)) yield problem('has files that go first, but not in its list');
    // Only the cuts say what is a piece.
    const cuts = queue.part('cuts');
    if ((cuts !== null) !== (queue.list.pieces_for !== undefined))
      yield problem(cuts ? 'has cuts, but its list has no pieces' : 'has pieces, but no cuts');
    const inPieces = cuts ? filesInPieces(cuts) : [];
    const filesOfPieces = new Map(inPieces.flatMap(cut => pathsOfPieces(cut).map(path => [path, cut.file] as const)));
    const listed = new Set(paths);
    const lost = [...filesOfPieces.keys()].find(path => !listed.has(path));
    if (lost !== undefined) yield problem(`lacks ${JSON.stringify(lost)}`);
    const whole = paths.map(path => filesOfPieces.get(path) ?? path);
    yield* problemsOfPaths(paths, whole, queue.list, problem);
  } catch (error) {
    yield problem(`has files that cannot be read: ${(error as Error).message}`);
    return;
  }
  yield* problemsOfBasis(queue, files, problem);
  const taken = new Map<number, number>();
  for (const batch of queue.batches()) {
    const { seq, node_index } = batch;
    // A repeated batch, a retry, or one that was reassigned from a silent node.
    const isRepeated = batch.isReplay || batch.retry || wasReassigned(batch);
    if (node_index >= node_total) yield problem(`handed batch ${seq} to node ${node_index} of ${node_total}`);
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
