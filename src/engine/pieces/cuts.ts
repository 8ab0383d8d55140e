import type { CaseOutcomes } from '../../case-outcomes.js';
import { pieceOf, piecePath } from '../../piece-path.js';

/** The files of a queue that are cut into pieces. */
export interface Cuts {
  files: readonly CutFile[];
}

export interface CutFile {
  file: string;
  /** Whether its cases pass in pieces as in the whole file is not known: if a piece fails, the client runs the whole file, whose result counts. */
  is_trial: boolean;
  /** The names of the cases of each piece. The last piece has in addition what the others do not name. */
  pieces: string[][];
  /** What the whole file has of names that do not stand for just one case that runs. */
  outcomes: CasesOfName[];
}

/** What the whole file has of the cases with one name. */
export interface CasesOfName {
  name: string;
  /** Passed: those that ran, and did not fail as expected. */
  outcomes: CaseOutcomes;
}

/** A piece, as a node that is to run it gets it. */
export interface HandedPiece {
  /** Its path in the queue. */
  path: string;
  /** The cases that it has to run. */
  cases: string[];
  /** Of the last piece: the cases of the others. The piece runs everything else in the file. Null: it runs only its own cases. */
  others: string[] | null;
  /** What the whole file has of names of the piece that do not stand for just one case that runs. */
  outcomes: CasesOfName[];
  is_trial: boolean;
}

export function encodeCuts(cuts: Cuts): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(cuts));
}

export function decodeCuts(bytes: Uint8Array): Cuts {
  return JSON.parse(new TextDecoder().decode(bytes)) as Cuts;
}

export function pathsOfPieces({ file, pieces }: CutFile): string[] {
  return pieces.map((_, i) => piecePath({ file, number: i + 1, count: pieces.length }));
}

/** The pieces among these paths, as a node gets them. */
export function handedPieces({ files }: Cuts, listed: readonly { path: string }[]): HandedPiece[] {
  return listed.flatMap(({ path }) => {
    const named = pieceOf(path);
    const cut = named && files.find(({ file }) => file === named.file);
    const cases = cut?.pieces[named!.number - 1];
    if (!cut || !cases) return [];
    const isLast = named!.number === cut.pieces.length;
    const others = isLast ? cut.pieces.slice(0, -1).flat() : null;
    const listed = new Set(others ?? cases);
    const outcomes = cut.outcomes.filter(({ name }) => listed.has(name) !== isLast);
    return [{ path, cases, others, outcomes, is_trial: cut.is_trial }];
  });
}
