import type { PlayedSuite } from './play.js';

/** A file of a suite, by its index, and the pieces that are played in its place, at least one. */
export interface FileCut {
  file: number;
  /** The time of each piece as a part of that of the file. Their sum may exceed 1: each piece repeats what the file takes besides its cases. */
  parts: Float64Array;
}

/** Returns the suite with files in pieces. */
export function withFilesCut({ weights, seconds }: PlayedSuite, cuts: readonly FileCut[]): PlayedSuite {
  const pieces = cuts
    .flatMap(({ file, parts }) =>
      Array.from(parts, part => ({ weight: Math.max(1, Math.round(weights[file]! * part)), seconds: seconds[file]! * part })),
    )
    .sort((a, b) => b.weight - a.weight || b.seconds - a.seconds);
  const isCut = new Set(cuts.map(({ file }) => file));
  const count = weights.length - isCut.size + pieces.length;
  const cut: PlayedSuite = { weights: new Float64Array(count), seconds: new Float64Array(count) };
  let [file, next] = [0, 0];
  for (let i = 0; i < count; i++) {
    while (isCut.has(file)) file++;
    const piece = pieces[next];
    const isPiece = piece !== undefined && (file >= weights.length || piece.weight > weights[file]!);
    cut.weights[i] = isPiece ? piece.weight : weights[file]!;
    cut.seconds[i] = isPiece ? piece.seconds : seconds[file]!;
    if (isPiece) next++;
    else file++;
  }
  return cut;
}

/** Returns equal parts of at most an even share, at least two. @param share seconds */
export function equalParts(seconds: number, share: number): Float64Array {
  const pieces = share > 0 ? Math.max(2, Math.ceil(seconds / share)) : 2;
  return new Float64Array(pieces).fill(1 / pieces);
}

/** Returns the parts that test cases have in the time of their file. @param cases their seconds, at least one */
export function partsOfCases(cases: readonly number[]): Float64Array {
  const sum = cases.reduce((total, seconds) => total + seconds, 0);
  return Float64Array.from(cases, seconds => (sum > 0 ? seconds / sum : 1 / cases.length));
}
