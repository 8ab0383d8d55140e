import { type BatchCost, withHidden } from '../batching/batch-cost.js';
import { longestFirst } from '../packing/pack.js';
import { totalWeight } from '../weight.js';

/** The most files that a queue cuts into pieces. */
export const FILES_TO_CUT = 200;
/** The most pieces of a file. */
export const PIECES_PER_FILE = 100;

/** A long test file whose cases are known. All durations are weights (see weight.ts). */
export interface CuttableFile {
  /** Its place among the files. */
  file: number;
  /** The durations of the cases of the file, in their order in the file; at least two. */
  cases: readonly number[];
  /** The time that the file takes besides its cases: each of its pieces repeats that time. */
  own: number;
}

/** A file, cut into pieces of cases that follow each other: neighbours may share set-up, and depend on their order. */
export interface Cut {
  file: number;
  pieces: readonly CutPiece[];
}

export interface CutPiece {
  /** The first and the last + 1 of its cases. */
  from: number;
  to: number;
  weight: number;
}

export interface Cutting {
  cuts: readonly Cut[];
  /** The expected makespan without pieces, and with them. */
  before: number;
  after: number;
}

/**
 * The limits on a piece that are tried, as parts of an even share, the best first. With at most a half, the nodes nearly always end together.
 * Where many files are long they need shorter pieces. Longer pieces repeat less of what a file takes besides its cases.
 */
const PARTS_OF_SHARE = [0.5, 0.3, 1, 2] as const;
/** A limit is as good as a later one if the build takes at most this many times as long. */
const AS_GOOD = 1.02;
/** The build must become shorter by at least this part. */
const LEAST_GAIN = 0.03;
/** The pieces of a file take together at most this many times as long as the file. */
const MOST_WORK = 1.4;

/**
 * The files that may be worth cutting: those that take more than half of an even share, the longest first.
 *
 * @param weights in descending order
 */
export function longFiles(weights: Float64Array, nodes: number): number[] {
  const half = totalWeight(weights) / nodes / 2;
  const count = weights.findIndex(weight => weight <= half);
  return Array.from({ length: Math.min(FILES_TO_CUT, count < 0 ? weights.length : count) }, (_, file) => file);
}

/**
 * Decides which files to cut, and where. Null: the build would not end sooner by more than 3 %, and by more than the start of a test runner.
 *
 * @param weights by file
 * @param cost of a batch; each piece is run by a command of its own, so it pays the start of the runner, too
 */
export function cutFiles(weights: Float64Array, nodes: number, files: readonly CuttableFile[], cost: BatchCost): Cutting | null {
  if (nodes < 2 || files.length === 0) return null;
  const durations = withHidden(weights, cost);
  const share = totalWeight(durations) / nodes;
  const alone = new Set(files.map(({ file }) => file));
  const before = makespanOf(durations, [], alone, nodes, cost);
  const perPiece = (cost.hidden + cost.pullCost) / cost.slowdown;
  const tried = PARTS_OF_SHARE.map(part => {
    const cuts = files.flatMap(file => cutFile(file, weights[file.file]!, (part * share) / cost.slowdown - perPiece) ?? []);
    return { cuts, before, after: makespanOf(durations, cuts, alone, nodes, cost) };
  });
  const best = Math.min(...tried.map(({ after }) => after));
  const chosen = tried.find(({ after }) => after <= AS_GOOD * best)!;
  return before - chosen.after > Math.max(LEAST_GAIN * before, cost.pullCost) ? chosen : null;
}

/** Cuts a file into the fewest pieces of at most this weight, as even as possible; null: the file need not or cannot be cut. */
function cutFile({ file, cases, own }: CuttableFile, weight: number, longest: number): Cut | null {
  if (weight <= longest) return null;
  const sum = cases.reduce((total, time) => total + time, 0);
  // The estimate rests on more builds than the times of the cases.
  const scale = weight / (sum + own);
  const longestCase = Math.max(...cases);
  const least = longest / scale - own;
  const affordable = Math.floor((MOST_WORK * (sum + own) - sum) / own);
  const count = Math.min(countPieces(cases, Math.max(least, longestCase)), affordable, PIECES_PER_FILE);
  if (count < 2) return null;
  let [low, high] = [Math.max(longestCase, sum / count), sum];
  while (high - low > 1) {
    const middle = (low + high) / 2;
    if (countPieces(cases, middle) > count) low = middle;
    else high = middle;
  }
  const pieces: CutPiece[] = [];
  for (let from = 0; from < cases.length; ) {
    const piece = nextPiece(cases, from, high);
    pieces.push({ from, to: piece.to, weight: Math.max(1, Math.round(scale * (piece.sum + own))) });
    from = piece.to;
  }
  return pieces.length < 2 ? null : { file, pieces };
}

function countPieces(cases: readonly number[], most: number): number {
  let count = 0;
  for (let from = 0; from < cases.length; count++) from = nextPiece(cases, from, most).to;
  return count;
}

/** The cases from one on that take at most this much together, at least one. */
function nextPiece(cases: readonly number[], from: number, most: number): { to: number; sum: number } {
  let to = from + 1;
  let sum = cases[from]!;
  while (to < cases.length && sum + cases[to]! <= most) sum += cases[to++]!;
  return { to, sum };
}

/** So many of the longest files and pieces are packed, at least this many a node: the others are so short that they fill up all nodes evenly. */
const PACKED = 2000;
const PACKED_PER_NODE = 10;

/**
 * The expected makespan with these cuts.
 *
 * @param durations by file, the longest first, except for files that are worth cutting
 * @param alone files so long that a batch has nothing else: a start of the runner counts for each of them, too
 */
function makespanOf(durations: Float64Array, cuts: readonly Cut[], alone: ReadonlySet<number>, nodes: number, cost: BatchCost): number {
  const cut = new Set(cuts.map(({ file }) => file));
  const pieces = withHidden(Float64Array.from(cuts.flatMap(({ pieces: ofFile }) => ofFile.map(({ weight }) => weight))), cost);
  const most = Math.min(durations.length, cut.size + Math.max(PACKED, PACKED_PER_NODE * nodes));
  const files: number[] = [];
  for (let file = 0; file < most; file++) if (!cut.has(file)) files.push(durations[file]! + (alone.has(file) ? cost.pullCost : 0));
  const packed = Float64Array.from([...files, ...Array.from(pieces, duration => duration + cost.pullCost)]);
  const { loads } = longestFirst(packed.sort().reverse(), nodes);
  const share = (totalWeight(packed) + totalWeight(durations.subarray(most))) / nodes;
  return Math.max(share, ...loads);
}
