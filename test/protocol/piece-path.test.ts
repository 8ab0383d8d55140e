import { expect, it } from 'vitest';
import { fileOfPiece, pieceOf, piecePath } from '../../src/protocol/piece-path.js';
import { PIECES_PER_FILE } from '../../src/server/planning/cutting/cut.js';

it.each([
  { file: 'a.py', number: 1, count: 2 },
  { file: 'shop', number: 2, count: PIECES_PER_FILE },
  { file: 'a\n::piece 1 of 2', number: 2, count: 2 },
])('the path of a piece names it: $file, $number of $count', piece => {
  expect(pieceOf(piecePath(piece))).toEqual(piece);
  expect(fileOfPiece(piecePath(piece))).toBe(piece.file);
});

it.each([
  'a.py',
  'a.py::piece',
  '::piece 1 of 2',
  'a.py::piece 0 of 2',
  'a.py::piece 3 of 2',
  'a.py::piece 01 of 2',
  'a.py::piece 1 of 99999999999',
])('a path that no queue gives a piece is a file or a test case: %s', path => {
  expect(pieceOf(path)).toBeNull();
  expect(fileOfPiece(path)).toBe(path);
});
