import { expect, it } from 'vitest';
import { type CutFile, encodeCuts, filesInPieces, handedPieces, pathsOfPieces } from '../../../../src/server/engine/pieces/cuts.js';

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
const cuts = encodeCuts({ files });
const inPieces = files.map(({ file, pieces }) => ({ file, count: pieces.length }));
const handed = (paths: readonly string[]) => JSON.parse(handedPieces(cuts, paths).toString()) as object[];

it('the files of a queue that are in pieces are read as they were written', () => {
  expect(filesInPieces(cuts)).toEqual(inPieces);
  expect(filesInPieces(encodeCuts({ files: [] }))).toEqual([]);
});

it('a node gets the cases of its pieces, and with the last of a file those of the others', () => {
  const outcomes = files[0]!.outcomes;
  const trial = { outcomes: [], is_trial: true };
  const [a, b, c, x, y] = inPieces.flatMap(pathsOfPieces) as [string, string, string, string, string];
  const pieces = [
    { path: a, cases: ['a', 'b\n"'], others: null, outcomes: [outcomes[0]], is_trial: false },
    { path: b, cases: ['größe'], others: null, outcomes: [], is_trial: false },
    { path: c, cases: ['c'], others: ['a', 'b\n"', 'größe'], outcomes: [outcomes[1]], is_trial: false },
    { path: x, cases: ['x'], others: null, ...trial },
    { path: y, cases: ['y'], others: ['x'], ...trial },
  ];
  expect(handed([a, 'whole.py', b, c, x, y])).toEqual(pieces);
  expect(handed([y, b])).toEqual([pieces[4], pieces[1]]);
});

it('a path that is no piece of the queue gets nothing', () => {
  expect(handed(['whole.py', 'b.py', 'other.py::piece 1 of 2', 'b.py::piece 1 of 3'])).toEqual([]);
  expect(handed([])).toEqual([]);
});
