import { expect, it } from 'vitest';
import { joinPieces } from '../../../../src/server/engine/pieces/join-pieces.js';

const piece = (file: string, count: number, seconds: number) => ({ file, count, seconds });

it('a file took what all of its pieces took together', () => {
  const times = [piece('a', 2, 3), piece('b', 3, 1), piece('a', 2, 4), piece('b', 3, 1), piece('b', 3, 1)];
  expect(joinPieces(times)).toEqual(
    new Map([
      ['a', 7],
      ['b', 3],
    ]),
  );
});

it('a file of which a piece is missing has no time, also if another cut of it has as many', () => {
  expect(joinPieces([piece('a', 2, 3), piece('a', 3, 4)])).toEqual(new Map());
  expect(joinPieces([piece('a', 2, 3), piece('a', 3, 4), piece('a', 2, 1)])).toEqual(new Map([['a', 4]]));
});
