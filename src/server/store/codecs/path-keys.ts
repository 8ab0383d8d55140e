import { pieceOf, piecePath } from '../../../protocol/piece-path.js';
import { fileOf } from '../../../protocol/test-case.js';
import { digest } from '../../engine/keys.js';

/** The most characters of a file, and of the rest of a test case, in a key. A character takes at most three bytes. */
const MOST = 300;
/** A longer text is cut here, and followed by this sign and a digest that makes it unique. */
const CUT = '\t';
const CUT_AT = 64;
/** Separates a file from the rest of a test case. The key of a file never has it there, because `fileOf` would find a test case. */
const CASE = '\n';

/**
 * Returns the key of a path: its project, then the path, so that neighbours in a suite are neighbours on disk and the test cases
 * of a file follow it. The pieces of all files of a project are together. Two paths of a project never have the same key.
 */
export function pathKey(project: number, path: string): string {
  const piece = pieceOf(path);
  if (piece) return piecesOfFile(project, piece.file) + piecePath({ ...piece, file: '' });
  const file = fileOf(path);
  return file === null ? fileKey(project, path) : fileKey(project, file) + CASE + bounded(path.slice(file.length));
}

function fileKey(project: number, file: string): string {
  return `${project}/${bounded(file)}`;
}

/** Returns the range of the keys of all test cases of a file. */
export function rangeOfCases(project: number, file: string): { start: string; end: string } {
  const start = fileKey(project, file) + CASE;
  // This character sorts after every first character of the rest of a test case.
  return { start, end: `${start}\u{10FFFF}` };
}

/** Returns the range of the keys of all pieces of a file, or with null of all files. It may have other paths that begin with a line break. */
export function rangeOfPieces(project: number, file: string | null): { start: string; end: string } {
  const start = file === null ? `${project}/${CASE}` : piecesOfFile(project, file);
  return { start, end: `${start}\u{10FFFF}` };
}

function piecesOfFile(project: number, file: string): string {
  return `${project}/${CASE}${bounded(file)}${CASE}`;
}

function bounded(text: string): string {
  const isShort = text.length <= MOST && text[CUT_AT] !== CUT && text.isWellFormed();
  return isShort ? text : text.slice(0, CUT_AT).toWellFormed().padEnd(CUT_AT) + CUT + digest(text);
}

/** Returns the project and path of a key; the path is null when the key has only a part of it. */
export function pathOfKey(key: string): { project: number; path: string | null } {
  const slash = key.indexOf('/');
  const project = Number(key.slice(0, slash));
  const path = key.slice(slash + 1);
  return { project, path: [path, path.replace(CASE, ''), path.replaceAll(CASE, '')].find(one => pathKey(project, one) === key) ?? null };
}
