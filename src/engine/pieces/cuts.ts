import { asBuffer } from '../../bytes.js';
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

/** Each file in a JSON text of its own, behind one that says where they are: a pull with a piece parses only that of its file. */
export function encodeCuts({ files }: Cuts): Uint8Array {
  const texts = files.map(cut => Buffer.from(JSON.stringify(cut)));
  const head = files.map(({ file }, i) => [file, texts[i]!.length] satisfies HeadEntry);
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...texts]);
}

type HeadEntry = [file: string, bytes: number];

/** @param wanted which files; missing: all */
export function decodeCuts(bytes: Uint8Array, wanted: (file: string) => boolean = () => true): Cuts {
  const text = asBuffer(bytes);
  const headEnd = text.indexOf('\n');
  const head = JSON.parse(text.toString('utf8', 0, headEnd)) as HeadEntry[];
  const files: CutFile[] = [];
  let from = headEnd + 1;
  for (const [file, length] of head) {
    if (wanted(file)) files.push(JSON.parse(text.toString('utf8', from, from + length)) as CutFile);
    from += length;
  }
  return { files };
}

export function pathsOfPieces({ file, pieces }: CutFile): string[] {
  return pieces.map((_, i) => piecePath({ file, number: i + 1, count: pieces.length }));
}

/** The pieces among these paths, as a node gets them. @param cuts encoded */
export function handedPieces(cuts: Uint8Array, listed: readonly { path: string }[]): HandedPiece[] {
  const named = listed.flatMap(({ path }) => {
    const piece = pieceOf(path);
    return piece ? [{ path, ...piece }] : [];
  });
  const { files } = decodeCuts(cuts, file => named.some(piece => piece.file === file));
  const cutOf = new Map(files.map(cut => [cut.file, cut]));
  return named.flatMap(({ path, file, number }) => {
    const cut = cutOf.get(file);
    const cases = cut?.pieces[number - 1];
    if (!cut || !cases) return [];
    const isLast = number === cut.pieces.length;
    const others = isLast ? cut.pieces.slice(0, -1).flat() : null;
    const listed = new Set(others ?? cases);
    const outcomes = cut.outcomes.filter(({ name }) => listed.has(name) !== isLast);
    return [{ path, cases, others, outcomes, is_trial: cut.is_trial }];
  });
}
