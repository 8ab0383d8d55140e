import { describe, expect, it } from 'vitest';
import { judgePiece, passedWhole } from '../../../src/node/pieces/judge.js';
import type { CaseReport, Piece } from '../../../src/node/pieces/piece.js';
import type { CaseOutcome, CaseOutcomes } from '../../../src/protocol/case-outcomes.js';

const named: Piece = { path: 'a.py::piece 1 of 2', file: 'a.py', cases: ['a', 'b'], others: null, outcomes: new Map(), isTrial: false };
const rest: Piece = {
  ...{ path: 'a.py::piece 2 of 2', file: 'a.py', cases: ['c'], others: ['a', 'b'], isTrial: false },
  outcomes: new Map([['old', { skipped: 1 }]]),
};

/** Cases by what they did. @param unrun cases in the file that did not run */
function report(outcomes: Record<string, CaseOutcome | CaseOutcomes>, unrun: readonly string[] | null = []): CaseReport {
  const cases = Object.entries(outcomes).map(([name, each]) => ({
    name,
    seconds: 1,
    outcomes: typeof each === 'string' ? { [each]: 1 } : each,
  }));
  return { cases, listed: unrun && new Set([...Object.keys(outcomes), ...unrun]) };
}

const GOOD = { missing: [], expectedFailures: [], failed: [], foreign: [], isEmpty: false };
const foreign = (name: string) => ({ name, seconds: 1, outcomes: { passed: 1 } });

describe('a piece of named cases', () => {
  it.each<[string, CaseReport | undefined, object]>([
    ['is good if all of them ran', report({ a: 'passed', b: 'passed' }, ['c', 'new']), {}],
    ['tells those that failed', report({ a: 'failed', b: 'passed' }), { failed: ['a'] }],
    ['misses a case that was skipped', report({ a: 'passed', b: 'skipped' }), { missing: ['b'] }],
    ['misses a case that the runner left out', report({ a: 'passed' }, ['b', 'c']), { missing: ['b'] }],
    ['does not miss a case that the file has no more', report({ a: 'passed' }, ['c', 'renamed']), {}],
    ['misses what did not run if the file does not tell its cases', report({ a: 'passed' }, null), { missing: ['b'] }],
    ['misses all if the file has none of them', report({}, ['renamed 1', 'renamed 2']), { missing: ['a', 'b'], isEmpty: true }],
    ['misses all if nothing was reported', undefined, { missing: ['a', 'b'], isEmpty: true }],
    ['tells cases of others that ran', report({ a: 'passed', b: 'passed', c: 'passed' }), { foreign: [foreign('c')] }],
    ['leaves failures of others to their pieces', report({ a: 'passed', b: 'passed', c: 'failed' }), { failed: [] }],
    ['misses all if only cases of others ran', report({ c: 'passed' }, ['a', 'b']), { missing: ['a', 'b'], isEmpty: true }],
  ])('%s', (_, cases, expected) => {
    const { foreign, ...judgement } = judgePiece(named, cases);
    const all = { ...judgement, foreign: 'foreign' in expected || foreign.length === 0 ? foreign : [] };
    expect(all).toEqual({ ...GOOD, ...expected });
  });
});

describe('the piece with the rest', () => {
  it.each<[string, CaseReport | undefined, object]>([
    ['has new cases', report({ c: 'passed', new: 'passed' }, ['a', 'b']), {}],
    ['tells a new case that failed', report({ c: 'passed', new: 'failed' }, ['a', 'b']), { failed: ['new'] }],
    [
      'misses a new case that was skipped: it may need a case of another piece',
      report({ c: 'passed', new: 'skipped' }),
      { missing: ['new'] },
    ],
    ['misses it also if the file does not tell its cases', report({ c: 'passed', new: 'skipped' }, null), { missing: ['new'] }],
    ['misses a new case that the runner left out', report({ c: 'passed' }, ['a', 'b', 'new']), { missing: ['new'] }],
    ['does not miss a case that was skipped in the whole file', report({ c: 'passed', old: 'skipped' }, ['a', 'b']), {}],
    ['does not miss cases of others', report({ c: 'passed' }, ['a', 'b']), {}],
    ['is good with new cases only', report({ new: 'passed' }, ['a', 'b']), {}],
    ['misses its cases if nothing was reported', undefined, { missing: ['c'], isEmpty: true }],
    ['misses its cases if the runner stopped before them', report({}, ['a', 'b', 'c']), { missing: ['c'], isEmpty: true }],
    ['tells cases of others that ran', report({ a: 'passed', c: 'passed' }), { foreign: [foreign('a')] }],
  ])('%s', (_, cases, expected) => {
    expect(judgePiece(rest, cases)).toEqual({ ...GOOD, ...expected });
  });
});

describe('a name of several cases', () => {
  const several: Piece = { ...named, cases: ['a', 'b'], outcomes: new Map([['b', { passed: 1, expected_failure: 1, skipped: 1 }]]) };
  const inWhole = { passed: 1, expected_failure: 1, skipped: 1 };

  it.each<[string, CaseOutcomes, object]>([
    ['is good as in the whole file', inWhole, {}],
    ['is good if more of them passed', { passed: 3 }, {}],
    ['is good if one failed, which is reported', { failed: 1, expected_failure: 1, skipped: 1 }, { failed: ['b'] }],
    ['is missing if fewer ran', { passed: 1, skipped: 1 }, { missing: ['b'] }],
    ['is missing if more were skipped', { passed: 2, skipped: 2 }, { missing: ['b'] }],
    ['is judged by the whole file if more failed as expected', { expected_failure: 2, skipped: 1 }, { expectedFailures: ['b'] }],
  ])('%s', (_, outcomes, expected) => {
    expect(judgePiece(several, report({ a: 'passed', b: outcomes }))).toEqual({ ...GOOD, ...expected });
  });

  it('that is new may have none that was skipped or failed as expected', () => {
    const judged = (outcomes: CaseOutcomes) => judgePiece(rest, report({ c: 'passed', new: outcomes }));
    expect(judged({ passed: 2 })).toEqual(GOOD);
    expect(judged({ passed: 1, skipped: 1 })).toEqual({ ...GOOD, missing: ['new'] });
    expect(judged({ passed: 1, expected_failure: 1 })).toEqual({ ...GOOD, expectedFailures: ['new'] });
  });
});

it('of the cases that did not pass in a piece, those passed whole that the whole file passed', () => {
  const judgement = { ...GOOD, missing: ['a', 'b'], failed: ['c', 'd'] };
  const piece = { isFailed: true, report: undefined };
  const whole = report({ a: 'passed', b: 'skipped', c: 'passed', d: 'failed', e: 'passed' });
  expect(passedWhole(judgement, piece, { isFailed: true, report: whole })).toEqual(['c', 'a']);
  expect(passedWhole(judgement, piece, { isFailed: true, report: undefined })).toEqual([]);
  const expected = { ...GOOD, expectedFailures: ['a', 'b'] };
  const inPiece = report({ a: 'expected_failure', b: { passed: 1, expected_failure: 1 } });
  const inWhole = report({ a: 'passed', b: { passed: 1, expected_failure: 1 } });
  expect(passedWhole(expected, { isFailed: false, report: inPiece }, { isFailed: false, report: inWhole })).toEqual(['a']);
});
