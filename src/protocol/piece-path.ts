import { pluralize } from '../base/plural.js';

/** A piece of a test file, as a queue lists it. All pieces of a file together have all of its test cases. */
export interface PieceName {
  file: string;
  /** From 1. The last one has the rest of the file. */
  number: number;
  /** Number of pieces of the file. */
  count: number;
}

/** Part of every path of a piece, and of nearly no other path. */
export const PIECE_SIGN = '::piece ';

const PIECE = /^(.+)::piece ([1-9]\d{0,2}) of ([1-9]\d{0,2})$/s;

/** The path under which a queue lists a piece. It has the form of a test case in its file. */
export function piecePath({ file, number, count }: PieceName): string {
  return `${file}::piece ${number} of ${count}`;
}

/** The piece that a path names; null: it is a test file, or a test case. */
export function pieceOf(path: string): PieceName | null {
  if (!path.includes(PIECE_SIGN)) return null;
  const [, file, number, count] = PIECE.exec(path) ?? [];
  return file === undefined || Number(number) > Number(count) ? null : { file, number: Number(number), count: Number(count) };
}

/** The test file of a piece, or any other path as it is. */
export function fileOfPiece(path: string): string {
  return pieceOf(path)?.file ?? path;
}

/** Counts the test files that these paths name: all pieces of a file count as one. */
export function filesAmong(paths: Iterable<string>): number {
  const files = new Set<string>();
  for (const path of paths) files.add(fileOfPiece(path));
  return files.size;
}

/** Counts what these paths name in a sentence: 2 test files and 1 piece. */
export function filesText(paths: readonly string[]): string {
  const pieces = paths.filter(path => pieceOf(path) !== null).length;
  const files = paths.length - pieces;
  const counts = [
    ...(files > 0 || pieces === 0 ? [pluralize(files, 'test file')] : []),
    ...(pieces > 0 ? [pluralize(pieces, 'piece')] : []),
  ];
  return counts.join(' and ');
}
