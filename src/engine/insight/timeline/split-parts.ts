import { decodeBasis } from '../../../planning/estimating/plan-basis.js';
import { decodeFiles } from '../../planned-files.js';
import type { Splits } from '../../ports/splits.js';

/** A file of a split. */
export interface SplitFile {
  path: string;
  /** What it was planned with, guessed or not. */
  seconds: number;
  isGuess: boolean;
}

/** The files of each node of a split. Null: the split has expired. */
export async function splitParts(splits: Splits, split: { id: string }, nodeTotal: number): Promise<SplitFile[][] | null> {
  const parts: SplitFile[][] = [];
  let count = 0;
  for (let node = 0; node < nodeTotal; node++) {
    const files = await splits.files(split, node);
    if (!files) return null;
    const part = decodeFiles(files).map(({ path, time_execution }) => ({
      path,
      seconds: time_execution ?? NaN,
      isGuess: time_execution === null,
    }));
    parts.push(part);
    count += part.length;
  }
  const basis = await splits.basis(split);
  if (!basis) return null;
  const { guesses } = decodeBasis(basis, count);
  let at = 0;
  for (const part of parts) {
    for (const file of part) {
      if (file.isGuess) file.seconds = guesses[at]!;
      at += 1;
    }
  }
  return parts;
}
