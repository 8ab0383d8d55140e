import type { PlayedSuite } from './play.js';

/** Equal parts of at most an even share, and at least two. @param share seconds */
export function equalParts(seconds: number, share: number): Float64Array {
  const pieces = share > 0 ? Math.max(2, Math.ceil(seconds / share)) : 2;
  return new Float64Array(pieces).fill(1 / pieces);
}

/** The parts that the test cases of a file have in it. @param cases their seconds, at least one */
export function partsOfCases(cases: readonly number[]): Float64Array {
  const sum = cases.reduce((total, seconds) => total + seconds, 0);
  return Float64Array.from(cases, seconds => (sum > 0 ? seconds / sum : 1 / cases.length));
}

/** Returns the suite with one file in equal pieces. @param file its index */
export function withFileCut({ weights, seconds }: PlayedSuite, file: number, pieces: number): PlayedSuite {
  const weight = Math.max(1, Math.round(weights[file]! / pieces));
  const shorter = weights.findIndex(other => other < weight);
  const place = shorter === -1 ? weights.length : shorter;
  const withPieces = (values: Float64Array, piece: number) => {
    const result = new Float64Array(values.length - 1 + pieces);
    result.set(values.subarray(0, file));
    result.set(values.subarray(file + 1, place), file);
    result.fill(piece, place - 1, place - 1 + pieces);
    result.set(values.subarray(place), place - 1 + pieces);
    return result;
  };
  return { weights: withPieces(weights, weight), seconds: withPieces(seconds, seconds[file]! / pieces) };
}
