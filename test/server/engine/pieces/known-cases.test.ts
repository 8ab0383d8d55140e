import { describe, expect, it } from 'vitest';
import { DAY_MILLISECONDS } from '../../../../src/base/time.js';
import type { CaseOutcomes, NamedCases } from '../../../../src/protocol/case-outcomes.js';
import { knownCases } from '../../../../src/server/engine/pieces/known-cases.js';
import type { KeptCases } from '../../../../src/server/engine/ports/cases.js';

const passed = (name: string, seconds = 1): NamedCases => ({ name, seconds, outcomes: { passed: 1 } });
const failed = (name: string): NamedCases => ({ name, seconds: 1, outcomes: { failed: 1 } });
const skipped = (name: string): NamedCases => ({ name, seconds: 0, outcomes: { skipped: 1 } });

function report(cases: NamedCases[], more: Partial<KeptCases> = {}): KeptCases {
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  return { file: 'a.py', piece: null, ci_run: '1', commit_hash: 'abc', runner: 'pytest', seconds, cases, passed_whole: [], at: 1, ...more };
}

/** Pieces of one CI run, reported at the same time. */
const cut = (pieces: NamedCases[][], more: Partial<KeptCases> = {}) =>
  pieces.map((cases, i) => report(cases, { piece: { number: i + 1, count: pieces.length }, at: 2, ...more }));
const names = (kept: KeptCases[]) => knownCases(kept)?.cases.map(({ name }) => name);

it('of a file of which nothing was reported, no case is known', () => {
  expect(knownCases([])).toBeNull();
});

it('a file runs whole when what it took as a whole is forgotten', () => {
  const pieces = cut([[passed('a')], [passed('b')]]);
  expect(knownCases(pieces)).toBeNull();
  expect(knownCases([report([passed('a'), passed('b')]), ...pieces])).toMatchObject({ isCut: true, notCut: null });
});

it('a file has the cases that ran the last time it was whole, and what it takes besides them', () => {
  const known = knownCases([report([passed('a'), skipped('b'), failed('c')], { seconds: 5 })]);
  expect(known).toMatchObject({ cases: [{ name: 'a' }, { name: 'c' }], own: 3, isCut: false, isProven: false, notCut: null });
});

it('a file keeps its cases when a node ran the whole file in the place of a piece, and reported no case of the piece', () => {
  const whole = report([passed('a'), passed('b'), passed('c', 4)]);
  const [first, last] = cut([[], [passed('c', 4)]]) as [KeptCases, KeptCases];
  const kept = [whole, { ...first, seconds: 4 }, last];
  expect(names(kept)).toEqual(['a', 'b', 'c']);
  expect(knownCases(kept)).toMatchObject({ notCut: null, isCut: false });
  expect(knownCases([whole, { ...first, seconds: 6 }, last])?.notCut).toMatchObject({
    reason: 'slow',
    pieces_seconds: 10,
    file_seconds: 6,
  });
});

it('names of reports count only where none of a runner are known', () => {
  const reported = report([passed('A a'), passed('A b')], { runner: null, at: 9 });
  expect(knownCases([reported])).toMatchObject({ runner: null, cases: [{ name: 'A a' }, { name: 'A b' }] });
  expect(knownCases([reported, report([passed('a'), passed('b')])])).toMatchObject({
    runner: 'pytest',
    cases: [{ name: 'a' }, { name: 'b' }],
  });
});

describe('a piece must have of a name', () => {
  const of = (outcomes: CaseOutcomes): NamedCases => ({ name: 'b', seconds: 1, outcomes });
  const wanted = (...kept: KeptCases[]) => Object.fromEntries(knownCases(kept)!.outcomes.map(({ name, outcomes }) => [name, outcomes]));
  const NONE = { passed: 0, expected_failure: 0, skipped: 0 };

  it('what the whole file has, where that is not one case that runs', () => {
    expect(wanted(report([passed('a'), skipped('b'), failed('c')]))).toEqual({ b: { ...NONE, skipped: 1 } });
    expect(wanted(report([of({ passed: 1, failed: 2, skipped: 1 })]))).toEqual({ b: { ...NONE, passed: 3, skipped: 1 } });
    expect(wanted(report([of({ expected_failure: 1 })]))).toEqual({ b: { ...NONE, expected_failure: 1 } });
  });

  it.each<[string, CaseOutcomes, CaseOutcomes, CaseOutcomes | undefined]>([
    ['skipped in both', { skipped: 1 }, { skipped: 1 }, { ...NONE, skipped: 1 }],
    ['skipped only in a piece', { passed: 1 }, { skipped: 1 }, undefined],
    ['skipped only in a piece, and failed in the whole file', { failed: 1 }, { skipped: 1 }, undefined],
    ['skipped only in the whole file', { skipped: 1 }, { passed: 1 }, undefined],
    ['an expected failure in both', { expected_failure: 1 }, { expected_failure: 1 }, { ...NONE, expected_failure: 1 }],
    ['an expected failure only in a piece', { passed: 1 }, { expected_failure: 1 }, undefined],
    ['an expected failure only in the whole file', { expected_failure: 1 }, { passed: 1 }, undefined],
    ['two cases, one of which a piece skipped', { passed: 2 }, { passed: 1, skipped: 1 }, { ...NONE, passed: 2 }],
  ])('the better of what the whole file and its pieces had: %s', (_, whole, piece, expected) => {
    const kept = [report([passed('a'), of(whole)]), ...cut([[passed('a')], [of(piece)]])];
    expect(wanted(...kept)).toEqual(expected ? { b: expected } : {});
  });

  it('what the piece reported that ran it: runners tell those of other pieces as skipped', () => {
    const both = of({ passed: 1, skipped: 1 });
    expect(
      wanted(
        report([passed('a'), both]),
        ...cut([
          [passed('a'), of({ skipped: 2 })],
          [skipped('a'), both],
        ]),
      ),
    ).toEqual({
      b: { ...NONE, passed: 1, skipped: 1 },
    });
  });
});

describe('a file that was cut since', () => {
  it('has the cases of its pieces, in their order', () => {
    const kept = [report([passed('a')]), ...cut([[passed('b'), passed('a')], [passed('c')]]).reverse()];
    expect(names(kept)).toEqual(['b', 'a', 'c']);
    expect(knownCases(kept)).toMatchObject({ isCut: true, isProven: true });
  });

  it('takes besides its cases what each piece does, once', () => {
    const kept = cut([[passed('a')], [passed('b')]]).map(one => ({ ...one, seconds: 3 }));
    expect(knownCases([report([passed('a'), passed('b')], { seconds: 5 }), ...kept])!.own).toBe(2);
  });

  it('is not on trial for a case that failed in the whole file right afterwards, too', () => {
    const failing = cut([[passed('a')], [failed('b')]]);
    const whole = report([passed('a'), failed('b')], { ci_run: failing[0]!.ci_run });
    expect(knownCases([whole, ...failing])).toMatchObject({ isProven: true });
    expect(knownCases([{ ...whole, ci_run: 'another' }, ...failing])).toMatchObject({ isProven: false });
    expect(knownCases([whole, ...cut([[failed('a')], [failed('b')]])])).toMatchObject({ isProven: false });
  });

  it('is on trial again after a case failed in a piece', () => {
    const kept = [report([passed('a'), passed('b')]), ...cut([[passed('a')], [failed('b')]])];
    expect(knownCases(kept)).toMatchObject({ isProven: false, notCut: null });
  });

  it('has the cases of the whole file while a piece is missing, or of another CI run', () => {
    const whole = report([passed('a')]);
    expect(names([whole, ...cut([[passed('b')], [passed('c')]]).slice(0, 1)])).toEqual(['a']);
    const [first, second] = cut([[passed('b')], [passed('c')]]);
    expect(names([whole, first!, { ...second!, ci_run: '2' }])).toEqual(['a']);
  });

  it('leaves out pieces of an earlier cut in more of them', () => {
    const [, , third] = cut([[passed('x')], [passed('y')], [passed('z')]], { ci_run: '0', at: 1 });
    expect(names([report([passed('w')]), ...cut([[passed('a')], [passed('b')]]), third!])).toEqual(['a', 'b']);
  });

  it('has the cases of the whole file once it ran whole again', () => {
    expect(names([report([passed('a')], { at: 3 }), ...cut([[passed('b')], [passed('c')]])])).toEqual(['a']);
  });
});

describe('a file is not cut again', () => {
  it('if a case passed in the whole file, and not in a piece', () => {
    const [first, second] = cut([[passed('a')], [failed('b')]]);
    const kept = [report([passed('a'), passed('b')], { at: 9 }), first!, { ...second!, passed_whole: ['b'] }];
    expect(knownCases(kept)!.notCut).toMatchObject({ reason: 'differs', cases: ['b'], commit_hash: 'abc' });
  });

  it('for 14 days: then it is on trial, as somebody may have mended it', () => {
    const [first, second] = cut([[passed('a')], [failed('b')]]);
    const slow = cut([[passed('a')], [passed('b')]]).map(one => ({ ...one, seconds: 90 }));
    for (const pieces of [[first!, { ...second!, passed_whole: ['b'] }], slow]) {
      const after = (days: number) => knownCases([report([passed('a'), passed('b')], { at: 2 + days * DAY_MILLISECONDS }), ...pieces])!;
      expect(after(13).notCut).not.toBeNull();
      expect(after(14)).toMatchObject({ notCut: null, isProven: false, isCut: false });
    }
  });

  it.each([
    [14, null],
    [16, { reason: 'slow', pieces_seconds: 16, file_seconds: 10 }],
  ])('if its pieces took together more than 1.5 times as long: %d s instead of 10 s', (seconds, expected) => {
    const pieces = cut([[passed('a')], [passed('b')]]).map(one => ({ ...one, seconds: seconds / 2 }));
    const { notCut } = knownCases([report([passed('a'), passed('b')], { seconds: 10 }), ...pieces])!;
    if (expected === null) expect(notCut).toBeNull();
    else expect(notCut).toMatchObject(expected);
  });
});
