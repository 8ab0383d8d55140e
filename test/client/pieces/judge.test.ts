import { describe, expect, it } from 'vitest';
import { judgePiece, passedWhole } from '../../../src/client/pieces/judge.js';
import type { Piece, RanCase, ToldCases } from '../../../src/client/pieces/piece.js';

const named: Piece = { path: 'a.py::piece 1 of 2', file: 'a.py', cases: ['a', 'b'], others: null, skipped: [], isTrial: false };
const rest: Piece = { path: 'a.py::piece 2 of 2', file: 'a.py', cases: ['c'], others: ['a', 'b'], skipped: ['old'], isTrial: false };

/** Cases by what they did. @param unrun cases in the file that did not run */
function told(outcomes: Record<string, RanCase['outcome']>, unrun: readonly string[] | null = []): ToldCases {
  const cases = Object.entries(outcomes).map(([name, outcome]) => ({ name, seconds: 1, outcome }));
  return { cases, listed: unrun && new Set([...Object.keys(outcomes), ...unrun]) };
}

const GOOD = { missing: [], failed: [], foreign: [], isEmpty: false };
const foreign = (name: string) => ({ name, seconds: 1, outcome: 'passed' });

describe('a piece of named cases', () => {
  it.each<[string, ToldCases | undefined, object]>([
    ['is good if all of them ran', told({ a: 'passed', b: 'passed' }, ['c', 'new']), {}],
    ['tells those that failed', told({ a: 'failed', b: 'passed' }), { failed: ['a'] }],
    ['misses a case that was skipped', told({ a: 'passed', b: 'skipped' }), { missing: ['b'] }],
    ['misses a case that the runner left out', told({ a: 'passed' }, ['b', 'c']), { missing: ['b'] }],
    ['does not miss a case that the file has no more', told({ a: 'passed' }, ['c', 'renamed']), {}],
    ['misses what did not run if the file does not tell its cases', told({ a: 'passed' }, null), { missing: ['b'] }],
    ['misses all if the file has none of them', told({}, ['renamed 1', 'renamed 2']), { missing: ['a', 'b'], isEmpty: true }],
    ['misses all if nothing was told', undefined, { missing: ['a', 'b'], isEmpty: true }],
    ['tells cases of others that ran', told({ a: 'passed', b: 'passed', c: 'passed' }), { foreign: [foreign('c')] }],
    ['leaves failures of others to their pieces', told({ a: 'passed', b: 'passed', c: 'failed' }), { failed: [] }],
    ['misses all if only cases of others ran', told({ c: 'passed' }, ['a', 'b']), { missing: ['a', 'b'], isEmpty: true }],
  ])('%s', (_, cases, expected) => {
    const { foreign, ...judgement } = judgePiece(named, cases);
    const all = { ...judgement, foreign: 'foreign' in expected || foreign.length === 0 ? foreign : [] };
    expect(all).toEqual({ ...GOOD, ...expected });
  });
});

describe('the piece with the rest', () => {
  it.each<[string, ToldCases | undefined, object]>([
    ['has new cases', told({ c: 'passed', new: 'passed' }, ['a', 'b']), {}],
    ['tells a new case that failed', told({ c: 'passed', new: 'failed' }, ['a', 'b']), { failed: ['new'] }],
    [
      'misses a new case that was skipped: it may need a case of another piece',
      told({ c: 'passed', new: 'skipped' }),
      { missing: ['new'] },
    ],
    ['misses it also if the file does not tell its cases', told({ c: 'passed', new: 'skipped' }, null), { missing: ['new'] }],
    ['misses a new case that the runner left out', told({ c: 'passed' }, ['a', 'b', 'new']), { missing: ['new'] }],
    ['does not miss a case that was skipped in the whole file', told({ c: 'passed', old: 'skipped' }, ['a', 'b']), {}],
    ['does not miss cases of others', told({ c: 'passed' }, ['a', 'b']), {}],
    ['is good with new cases only', told({ new: 'passed' }, ['a', 'b']), {}],
    ['misses its cases if nothing was told', undefined, { missing: ['c'], isEmpty: true }],
    ['misses its cases if the runner stopped before them', told({}, ['a', 'b', 'c']), { missing: ['c'], isEmpty: true }],
    ['tells cases of others that ran', told({ a: 'passed', c: 'passed' }), { foreign: [foreign('a')] }],
  ])('%s', (_, cases, expected) => {
    expect(judgePiece(rest, cases)).toEqual({ ...GOOD, ...expected });
  });
});

it('of the cases that did not pass in a piece, those passed whole that the whole file passed', () => {
  const judgement = { ...GOOD, missing: ['a', 'b'], failed: ['c', 'd'] };
  const piece = { isFailed: true, told: undefined };
  const whole = told({ a: 'passed', b: 'skipped', c: 'passed', d: 'failed', e: 'passed' });
  expect(passedWhole(judgement, piece, { isFailed: true, told: whole })).toEqual(['c', 'a']);
  expect(passedWhole(judgement, piece, { isFailed: true, told: undefined })).toEqual([]);
});
