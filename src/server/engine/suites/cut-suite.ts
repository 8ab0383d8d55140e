import { charactersIn } from '../../../protocol/case-names.js';
import { piecePath } from '../../../protocol/piece-path.js';
import type { BatchCost } from '../../planning/batching/batch-cost.js';
import { type CuttableFile, type Cutting, cutFiles, longFiles } from '../../planning/cutting/cut.js';
import { BASIS_BYTES } from '../../planning/estimating/basis.js';
import { type Estimates, pathOf } from '../../planning/estimating/estimate.js';
import { toSeconds } from '../../planning/weight.js';
import type { Cuts } from '../pieces/cuts.js';
import { cuttable } from '../pieces/cuttable.js';
import { type KnownCases, readKnownCases } from '../pieces/known-cases.js';
import type { Store } from '../ports/store.js';
import { type Suite, suiteOf } from './suite.js';

/** Characters of the names of all cases in the pieces of a queue. */
export const CUT_CHARACTERS_PER_QUEUE = 1_048_576;

/** The long files of a suite that are worth cutting, and the knowledge about their cases, by place among the files. */
export interface WorthCutting {
  cutting: Cutting;
  known: ReadonlyMap<number, KnownCases>;
}

export interface CutOptions {
  nodeTotal: number;
  cost: BatchCost;
  /** The runner that runs the pieces; null: any might. */
  runner: string | null;
  isWorker: boolean;
}

/**
 * Finds the files to cut. Null: no cut makes the build shorter. 'worker': only a worker thread should do it.
 *
 * @param files of which most were measured
 */
export async function worthCutting(
  { cases }: Pick<Store, 'cases'>,
  project: number,
  files: Estimates<Suite>,
  { nodeTotal, cost, runner, isWorker }: CutOptions,
): Promise<WorthCutting | 'worker' | null> {
  const long = nodeTotal < 2 ? [] : longFiles(files.weights, nodeTotal);
  if (long.length === 0) return null;
  // A file may have megabytes of names.
  if (!isWorker) return 'worker';
  const known = new Map<number, KnownCases>();
  const weights = Float64Array.from(files.weights);
  const mayCut: CuttableFile[] = [];
  let characters = 0;
  const paths = long.map(file => pathOf(files, file));
  for await (const { place, known: found } of readKnownCases(cases, project, paths)) {
    const file = long[place]!;
    const cut = cuttable(found, file);
    if (!cut || (runner !== null && found.runner !== runner)) continue;
    characters += charactersIn(found.cases) + charactersIn(found.outcomes);
    if (characters > CUT_CHARACTERS_PER_QUEUE) break;
    known.set(file, found);
    // Its estimate rests on older runs of the whole file.
    if (found.isCut) weights[file] = cut.cases.reduce((sum, time) => sum + time, cut.own);
    mayCut.push(cut);
  }
  const cutting = cutFiles(weights, nodeTotal, mayCut, cost);
  return cutting && { cutting, known };
}

/** The number of seconds by which the build should end sooner, on nodes of usual speed. */
export function savedSeconds({ before, after }: Cutting): number {
  return toSeconds(before - after);
}

/** The files of a queue with pieces in place of those that are cut. */
export function withPieces(files: Estimates<Suite>, { cutting, known }: WorthCutting): { files: Estimates<Suite>; cuts: Cuts } {
  const whole = new Set(cutting.cuts.map(({ file }) => file));
  const cuts: Cuts = {
    files: cutting.cuts.map(({ file, pieces }) => {
      const { cases, outcomes, isProven } = known.get(file)!;
      const names = cases.map(({ name }) => name);
      const ofPieces = pieces.map(({ from, to }) => names.slice(from, to));
      return { file: pathOf(files, file), is_trial: !isProven, pieces: ofPieces, outcomes: [...outcomes] };
    }),
  };
  const pieces = cutting.cuts.flatMap(({ file, pieces: ofFile }) =>
    ofFile.map(({ weight }, i) => ({ file, weight, path: piecePath({ file: pathOf(files, file), number: i + 1, count: ofFile.length }) })),
  );
  const kept = Array.from(files.order.keys()).filter(file => !whole.has(file));
  const listed = [
    ...kept.map(file => ({ file, weight: files.weights[file]!, path: pathOf(files, file), seconds: files.seconds[file]! })),
    ...pieces.map(piece => ({ ...piece, seconds: toSeconds(piece.weight) })),
  ].sort((a, b) => b.weight - a.weight || (a.path < b.path ? -1 : 1));
  const list = suiteOf(listed.map(({ path }) => path));
  const places = new Map(list.strings().map((path, place) => [path, place]));
  const basis = new Uint8Array(BASIS_BYTES * listed.length);
  for (const [i, { file }] of listed.entries())
    basis.set(files.basis.subarray(BASIS_BYTES * file, BASIS_BYTES * (file + 1)), BASIS_BYTES * i);
  return {
    files: {
      list,
      order: Uint32Array.from(listed, ({ path }) => places.get(path)!),
      seconds: Float64Array.from(listed, ({ seconds }) => seconds),
      weights: Float64Array.from(listed, ({ weight }) => weight),
      basis,
    },
    cuts,
  };
}
