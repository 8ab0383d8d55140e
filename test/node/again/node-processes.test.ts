import { describe, expect, it } from 'vitest';
import { processesOf } from '../../../src/node/again/node-processes.js';

const span = (files: number[], failed: number[] | null) => ({ files, failed });

const work = {
  ...{ ci_run: '7', commit_hash: 'c1', paths: ['a', 'b', 'c::piece 1 of 2', 'c::piece 2 of 2', 'd'] },
  ...{ estimates: [1, 2, 3, 3, null], is_guess: [0, 1, 0, 0, 0] as (0 | 1)[] },
};

describe('the processes of a node', () => {
  it('are its batches in their order, with what failed', () => {
    const nodes = [
      { node_index: 0, spans: [] },
      { node_index: 1, spans: [span([1, 0], [0]), span([0], []), span([4], null)] },
    ];
    const [a, b, d] = [
      { path: 'a', expected: 1, duration: 1 },
      { path: 'b', expected: null },
      { path: 'd', expected: null },
    ];
    const ran = processesOf({ ...work, nodes }, 1);
    expect(ran.map(({ files }) => files)).toMatchObject([
      [
        { ...b, hasFailed: false },
        { ...a, hasFailed: true },
      ],
      [{ ...a, hasFailed: false }],
      [{ ...d, hasFailed: null }],
    ]);
    expect(processesOf({ ...work, nodes }, 0)).toEqual([]);
    expect(processesOf({ ...work, nodes }, 2)).toEqual([]);
  });

  it('are one for each piece, behind the whole files of its batch', () => {
    const nodes = [{ node_index: 0, spans: [span([3, 0, 2], [2])] }];
    expect(processesOf({ ...work, nodes }, 0)).toMatchObject([
      { isPiece: false, files: [{ path: 'a', hasFailed: false }] },
      { isPiece: true, files: [{ path: 'c', hasFailed: false }] },
      { isPiece: true, files: [{ path: 'c', hasFailed: true }] },
    ]);
  });
});
