import { fileOfPiece, pieceOf } from '../../protocol/piece-path.js';
import type { PlannedFile } from '../client/planned-file.js';
import type { CiRunWork } from './ci-run-work.js';

/** A test file that a node ran. */
export interface RanFile extends PlannedFile {
  /** Whether it failed in the CI run; null: the client did not tell. */
  hasFailed: boolean | null;
}

/** The test files that one process of a node ran, in their order. */
export interface NodeProcess {
  files: readonly RanFile[];
  /** It ran a piece of its only file. */
  isPiece: boolean;
}

/** Returns the processes of a node, in their order: one for each batch and each piece, or, of a split, for each recorded run. */
export function processesOf({ paths, estimates, is_guess, nodes }: CiRunWork, nodeIndex: number): NodeProcess[] {
  const spans = nodes.find(({ node_index }) => node_index === nodeIndex)?.spans ?? [];
  return spans.flatMap(({ files, failed }) => {
    const ran = files.map((index): RanFile & { isPiece: boolean } => {
      const path = paths[index]!;
      const expected = is_guess[index] ? null : (estimates[index] ?? null);
      return {
        path: fileOfPiece(path),
        expected,
        hasFailed: failed === null ? null : failed.includes(index),
        isPiece: pieceOf(path) !== null,
        ...(expected !== null && { duration: expected }),
      };
    });
    const whole = ran.filter(({ isPiece }) => !isPiece);
    return [
      ...(whole.length > 0 ? [{ files: whole, isPiece: false }] : []),
      ...ran.filter(({ isPiece }) => isPiece).map(file => ({ files: [file], isPiece: true })),
    ];
  });
}
