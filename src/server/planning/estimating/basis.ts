import { toSeconds } from '../weight.js';
import type { Estimates } from './estimate.js';

/**
 * Sources of an estimate. `branch`, `default_branch`, `other_branch`: the file's own measurements there. `cases`: the sum of its test cases. `file`:
 * a test case gets a share of its file, or a percentile of the other cases in it. `directory`, `suite`: a percentile of other files there. `none`:
 * nothing was ever measured.
 */
export const SOURCES = ['branch', 'default_branch', 'other_branch', 'cases', 'file', 'directory', 'suite', 'none'] as const;
export type Source = (typeof SOURCES)[number];

/**
 * The basis of estimates, in three bytes a file, because a suite may have 200,000 files: the code of the source, from 1; how many
 * builds measured the file, 255: 255 or more; the usual deviation of the logarithm of its seconds in hundredths, 0: unknown.
 */
export type Basis = Uint8Array;

export const BASIS_BYTES = 3;
const MAX_BYTE = 255;
const HUNDREDTHS = 100;

/** The basis of the estimate of one file. */
export interface FileBasis {
  source: Source;
  /** The number of builds that measured the file, at most 255. */
  count: number;
  /** The usual deviation, as a factor; null: unknown. */
  spread: number | null;
}

/** A basis of which nothing is known yet. */
export function emptyBasis(files: number): Basis {
  return new Uint8Array(BASIS_BYTES * files);
}

export function codeOf(source: Source): number {
  return SOURCES.indexOf(source) + 1;
}

/** Sets the basis of a file. Without a deviation its spread is unknown. */
export function setBasis(basis: Basis, file: number, code: number, builds = 0, deviation = 0): void {
  const at = BASIS_BYTES * file;
  basis[at] = code;
  basis[at + 1] = Math.min(MAX_BYTE, builds);
  basis[at + 2] = Math.min(MAX_BYTE, Math.round(HUNDREDTHS * deviation));
}

export function fileBasis(basis: Basis, file: number): FileBasis {
  const at = BASIS_BYTES * file;
  const [code, builds, deviation] = [basis[at] ?? 0, basis[at + 1] ?? 0, basis[at + 2] ?? 0];
  const spread = deviation === 0 ? null : Math.exp(deviation / HUNDREDTHS);
  return { source: SOURCES[code - 1] ?? 'none', count: builds, spread };
}

/** The basis of the estimates of a plan, and its guesses. */
export interface PlanBasis {
  basis: Basis;
  /** The seconds by file, to seven digits; NaN: the file or its test cases were measured. */
  guesses: Float32Array;
}

/** A plan keeps these bytes: the version (1 byte), the basis, then the seconds of each guess (4 bytes, little-endian), by file. */
const VERSION = 1;
const START = 1;
const GUESS = 4;
const FIRST_GUESS = codeOf('file');

/** @param planned the files of the plan, as indices into the estimates; missing: they are those of the estimates, in their order */
export function encodeBasis({ basis, weights }: Estimates, planned?: ArrayLike<number>): Uint8Array {
  const files = weights.length;
  let guesses = 0;
  for (let file = 0; file < files; file++) if (isGuess(basis, file)) guesses += 1;
  const bytes = new Uint8Array(START + BASIS_BYTES * files + GUESS * guesses);
  const view = new DataView(bytes.buffer);
  bytes[0] = VERSION;
  let at = START;
  let guessAt = START + BASIS_BYTES * files;
  for (let i = 0; i < files; i++) {
    const file = planned ? planned[i]! : i;
    for (let part = 0; part < BASIS_BYTES; part++) bytes[at++] = basis[BASIS_BYTES * file + part]!;
    if (!isGuess(basis, file)) continue;
    view.setFloat32(guessAt, toSeconds(weights[file]!), true);
    guessAt += GUESS;
  }
  return bytes;
}

/** Throws a sentence when the bytes are of another version, or of another number of files. */
export function decodeBasis(bytes: Uint8Array, files: number): PlanBasis {
  if (bytes[0] !== VERSION) throw new Error(`has a basis of estimates of version ${bytes[0]}, and this Ballast reads ${VERSION}`);
  const basis = bytes.subarray(START, START + BASIS_BYTES * files);
  const guesses = new Float32Array(files).fill(NaN);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = START + BASIS_BYTES * files;
  for (let file = 0; file < files; file++) {
    if (!isGuess(basis, file)) continue;
    if (at + GUESS <= bytes.length) guesses[file] = view.getFloat32(at, true);
    at += GUESS;
  }
  if (at !== bytes.length) throw new Error(`has a basis of estimates of ${bytes.length} bytes instead of ${at}`);
  return { basis, guesses };
}

function isGuess(basis: Basis, file: number): boolean {
  return basis[BASIS_BYTES * file]! >= FIRST_GUESS;
}
