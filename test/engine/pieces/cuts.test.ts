import { expect, it } from 'vitest';
import { type CutFile, decodeCuts, encodeCuts, handedPieces, pathsOfPieces } from '../../../src/engine/pieces/cuts.js';

const cut = (file: string, pieces: string[][], more: Partial<CutFile> = {}): CutFile => ({
  file,
  is_trial: false,
  pieces,
  outcomes: [],
  ...more,
});
const files = [
  cut('größe\n.py', [['a', 'b\n"'], ['größe'], ['c']], {
    outcomes: [
      { name: 'b\n"', outcomes: { passed: 2 } },
      { name: 'd', outcomes: { skipped: 1 } },
    ],
  }),
  cut('b.py', [['x'], ['y']], { is_trial: true }),
];
const listed = [...files.flatMap(pathsOfPieces), 'whole.py', 'other.py::piece 1 of 2'].map(path => ({ path }));

it('the cuts of a queue are read as they were written, all of them or those of some files', () => {
  expect(decodeCuts(encodeCuts({ files }))).toEqual({ files });
  expect(decodeCuts(encodeCuts({ files }), file => file === 'b.py')).toEqual({ files: [files[1]] });
  expect(decodeCuts(encodeCuts({ files: [] }))).toEqual({ files: [] });
});

it('a node gets the cases of its pieces, and with the last of a file those of the others', () => {
  const handed = handedPieces(encodeCuts({ files }), listed);
  expect(handed.map(({ cases }) => cases)).toEqual(files.flatMap(({ pieces }) => pieces));
  expect(handed.map(({ others }) => others)).toEqual([null, null, ['a', 'b\n"', 'größe'], null, ['x']]);
  expect(handed.map(({ outcomes, is_trial }) => [outcomes.map(({ name }) => name), is_trial])).toEqual([
    [['b\n"'], false],
    [[], false],
    [['d'], false],
    [[], true],
    [[], true],
  ]);
});
