import { asBuffer, toSegments } from '../../../base/bytes.js';
import type { CasesOfName } from '../../../protocol/case-outcomes.js';
import type { HandedPiece } from '../../../protocol/messages/queue.js';
import { type PieceName, pieceOf, piecePath } from '../../../protocol/piece-path.js';

/** The files of a queue that are cut into pieces. */
export interface Cuts {
  files: readonly CutFile[];
}

export interface CutFile {
  file: string;
  /**
   * True if nobody knows yet whether the file's cases pass in pieces as in the whole file. If a piece fails, the client runs the whole file, whose
   * result counts.
   */
  is_trial: boolean;
  /** The names of the cases of each piece. The last piece has in addition what the others do not name. */
  pieces: string[][];
  /**
   * Outcomes, in the whole file, of names that do not stand for just one case that runs. Passed: the cases that ran, and did not fail as expected.
   */
  outcomes: CasesOfName[];
}

/** A piece, as a node that is to run it gets it after its path in the queue. */
type PieceToHand = Omit<HandedPiece, 'path'>;

/** A file that is cut, and into how many pieces. */
export type PiecesOfFile = Omit<PieceName, 'number'>;

/**
 * Encodes cuts: a line of JSON with the files and how many pieces each has, the end of each piece's text as a Uint32, and the texts, in JSON.
 * A node gets the text of its piece as it is: the names of a file are so many that to parse and encode them for each pull would keep others
 * waiting. The last piece of a file names all cases, so the names are stored twice.
 */
export function encodeCuts({ files }: Cuts): Uint8Array {
  const head = files.map(({ file, pieces }) => ({ file, count: pieces.length }) satisfies PiecesOfFile);
  const { bytes, ends } = toSegments(files.flatMap(toPieces).map(piece => JSON.stringify(piece)));
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), asBuffer(ends), bytes]);
}

function toPieces({ pieces, outcomes, is_trial }: CutFile): PieceToHand[] {
  const last = pieces.length - 1;
  const others = pieces.slice(0, last);
  const pieceOfName = new Map(others.flatMap((cases, i) => cases.map(name => [name, i] as const)));
  const outcomesOf: CasesOfName[][] = pieces.map(() => []);
  for (const one of outcomes) outcomesOf[pieceOfName.get(one.name) ?? last]!.push(one);
  return pieces.map((cases, i) => ({ cases, others: i === last ? others.flat() : null, outcomes: outcomesOf[i]!, is_trial }));
}

/** The files that are cut. @param cuts encoded */
export function filesInPieces(cuts: Uint8Array): PiecesOfFile[] {
  const bytes = asBuffer(cuts);
  return JSON.parse(bytes.toString('utf8', 0, bytes.indexOf('\n'))) as PiecesOfFile[];
}

export function pathsOfPieces({ file, count }: PiecesOfFile): string[] {
  return Array.from({ length: count }, (_, i) => piecePath({ file, number: i + 1, count }));
}

/** The pieces among these paths, as a node gets them: a JSON array. @param cuts encoded */
export function handedPieces(cuts: Uint8Array, paths: readonly string[]): Buffer {
  const bytes = asBuffer(cuts);
  const cutOf = new Map<string, { first: number; count: number }>();
  let pieces = 0;
  for (const { file, count } of filesInPieces(cuts)) {
    cutOf.set(file, { first: pieces, count });
    pieces += count;
  }
  const ends = bytes.indexOf('\n') + 1;
  const texts = bytes.subarray(ends + 4 * pieces);
  const endOf = (piece: number) => (piece < 0 ? 0 : bytes.readUInt32LE(ends + 4 * piece));
  const handed: Buffer[] = [];
  for (const path of paths) {
    const piece = pieceOf(path);
    const cut = piece && cutOf.get(piece.file);
    if (!cut || piece.count !== cut.count) continue;
    const place = cut.first + piece.number - 1;
    const text = texts.subarray(endOf(place - 1), endOf(place));
    handed.push(Buffer.from(`${handed.length === 0 ? '' : ','}{"path":${JSON.stringify(path)},`), text.subarray(1));
  }
  return Buffer.concat([Buffer.from('['), ...handed, Buffer.from(']')]);
}
