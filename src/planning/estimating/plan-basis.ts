import { toSeconds } from '../weight.js';
import { BASIS_BYTES, type Basis, codeOf } from './basis.js';
import type { Estimates } from './estimate.js';

/** What the estimates of a plan rest on, and its guesses. */
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

/** @param nodes the files of the plan by node, as indices into the estimates; missing: they are those of the estimates, in their order */
export function encodeBasis({ basis, weights }: Estimates, nodes?: readonly (readonly number[])[]): Uint8Array {
  const order = nodes && inOneList(nodes, weights.length);
  const files = weights.length;
  let guesses = 0;
  for (let file = 0; file < files; file++) if (isGuess(basis, file)) guesses += 1;
  const bytes = new Uint8Array(START + BASIS_BYTES * files + GUESS * guesses);
  const view = new DataView(bytes.buffer);
  bytes[0] = VERSION;
  let at = START;
  let guessAt = START + BASIS_BYTES * files;
  for (let i = 0; i < files; i++) {
    const file = order ? order[i]! : i;
    for (let part = 0; part < BASIS_BYTES; part++) bytes[at++] = basis[BASIS_BYTES * file + part]!;
    if (!isGuess(basis, file)) continue;
    view.setFloat32(guessAt, toSeconds(weights[file]!), true);
    guessAt += GUESS;
  }
  return bytes;
}

/** Appends the lists of the nodes. `flat` takes many times as long. */
function inOneList(nodes: readonly (readonly number[])[], files: number): Uint32Array {
  const all = new Uint32Array(files);
  let count = 0;
  for (const node of nodes) for (const file of node) all[count++] = file;
  return all;
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
