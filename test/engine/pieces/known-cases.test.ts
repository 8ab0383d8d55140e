import { describe, expect, it } from 'vitest';
import { knownCases } from '../../../src/engine/pieces/known-cases.js';
import type { ToldCase } from '../../../src/engine/pieces/told-cases.js';
import type { KeptCases } from '../../../src/engine/ports/cases.js';
import { DAY_MILLISECONDS } from '../../../src/time.js';

const passed = (name: string, seconds = 1): ToldCase => ({ name, seconds, outcome: 'passed' });
const failed = (name: string): ToldCase => ({ name, seconds: 1, outcome: 'failed' });
const skipped = (name: string): ToldCase => ({ name, seconds: 0, outcome: 'skipped' });

function told(cases: ToldCase[], more: Partial<KeptCases> = {}): KeptCases {
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  return { file: 'a.py', piece: null, ci_run: '1', commit_hash: 'abc', runner: 'pytest', seconds, cases, passed_whole: [], at: 1, ...more };
}

/** Pieces of one CI run, told at the same time. */
const cut = (pieces: ToldCase[][], more: Partial<KeptCases> = {}) =>
  pieces.map((cases, i) => told(cases, { piece: { number: i + 1, count: pieces.length }, at: 2, ...more }));
const names = (kept: KeptCases[]) => knownCases(kept)?.cases.map(({ name }) => name);

it('of a file of which nothing was told, no case is known', () => {
  expect(knownCases([])).toBeNull();
});

it('a file runs whole when what it took as a whole is forgotten', () => {
  const pieces = cut([[passed('a')], [passed('b')]]);
  expect(knownCases(pieces)).toBeNull();
  expect(knownCases([told([passed('a'), passed('b')]), ...pieces])).toMatchObject({ isCut: true, notCut: null });
});

it('a file has the cases that ran the last time it was whole, and what it takes besides them', () => {
  const known = knownCases([told([passed('a'), skipped('b'), failed('c')], { seconds: 5 })]);
  expect(known).toMatchObject({ cases: [{ name: 'a' }, { name: 'c' }], own: 3, isCut: false, isProven: false, notCut: null });
});

it('names of reports count only where none of a runner are known', () => {
  const reported = told([passed('A a'), passed('A b')], { runner: null, at: 9 });
  expect(knownCases([reported])).toMatchObject({ runner: null, cases: [{ name: 'A a' }, { name: 'A b' }] });
  expect(knownCases([reported, told([passed('a'), passed('b')])])).toMatchObject({
    runner: 'pytest',
    cases: [{ name: 'a' }, { name: 'b' }],
  });
});

describe('a case counts as skipped', () => {
  const skippedIn = (...kept: KeptCases[]) => knownCases(kept)!.skipped;

  it('if the whole file skipped it', () => {
    expect(skippedIn(told([passed('a'), skipped('b')]))).toEqual(['b']);
    expect(skippedIn(told([passed('a'), skipped('b')]), ...cut([[passed('a')], [skipped('b')]]))).toEqual(['b']);
  });

  it('not if only a piece skipped it, also if it failed in the whole file', () => {
    for (const b of [passed('b'), failed('b')])
      expect(skippedIn(told([passed('a'), b]), ...cut([[passed('a')], [skipped('b')]]))).toEqual([]);
  });
});

describe('a file that was cut since', () => {
  it('has the cases of its pieces, in their order', () => {
    const kept = [told([passed('a')]), ...cut([[passed('b'), passed('a')], [passed('c')]]).reverse()];
    expect(names(kept)).toEqual(['b', 'a', 'c']);
    expect(knownCases(kept)).toMatchObject({ isCut: true, isProven: true });
  });

  it('takes besides its cases what each piece does, once', () => {
    const kept = cut([[passed('a')], [passed('b')]]).map(one => ({ ...one, seconds: 3 }));
    expect(knownCases([told([passed('a'), passed('b')], { seconds: 5 }), ...kept])!.own).toBe(2);
  });

  it('is not on trial for a case that failed in the whole file right afterwards, too', () => {
    const failing = cut([[passed('a')], [failed('b')]]);
    const whole = told([passed('a'), failed('b')], { ci_run: failing[0]!.ci_run });
    expect(knownCases([whole, ...failing])).toMatchObject({ isProven: true });
    expect(knownCases([{ ...whole, ci_run: 'another' }, ...failing])).toMatchObject({ isProven: false });
    expect(knownCases([whole, ...cut([[failed('a')], [failed('b')]])])).toMatchObject({ isProven: false });
  });

  it('is on trial again after a case failed in a piece', () => {
    const kept = [told([passed('a'), passed('b')]), ...cut([[passed('a')], [failed('b')]])];
    expect(knownCases(kept)).toMatchObject({ isProven: false, notCut: null });
  });

  it('has the cases of the whole file while a piece is missing, or of another CI run', () => {
    const whole = told([passed('a')]);
    expect(names([whole, ...cut([[passed('b')], [passed('c')]]).slice(0, 1)])).toEqual(['a']);
    const [first, second] = cut([[passed('b')], [passed('c')]]);
    expect(names([whole, first!, { ...second!, ci_run: '2' }])).toEqual(['a']);
  });

  it('leaves out pieces of an earlier cut in more of them', () => {
    const [, , third] = cut([[passed('x')], [passed('y')], [passed('z')]], { ci_run: '0', at: 1 });
    expect(names([told([passed('w')]), ...cut([[passed('a')], [passed('b')]]), third!])).toEqual(['a', 'b']);
  });

  it('has the cases of the whole file once it ran whole again', () => {
    expect(names([told([passed('a')], { at: 3 }), ...cut([[passed('b')], [passed('c')]])])).toEqual(['a']);
  });
});

describe('a file is not cut again', () => {
  it('if a case passed in the whole file, and not in a piece', () => {
    const [first, second] = cut([[passed('a')], [failed('b')]]);
    const kept = [told([passed('a'), passed('b')], { at: 9 }), first!, { ...second!, passed_whole: ['b'] }];
    expect(knownCases(kept)!.notCut).toMatchObject({ reason: 'differs', cases: ['b'], commit_hash: 'abc' });
  });

  it('for 14 days: then it is on trial, as somebody may have mended it', () => {
    const [first, second] = cut([[passed('a')], [failed('b')]]);
    const slow = cut([[passed('a')], [passed('b')]]).map(one => ({ ...one, seconds: 90 }));
    for (const pieces of [[first!, { ...second!, passed_whole: ['b'] }], slow]) {
      const after = (days: number) => knownCases([told([passed('a'), passed('b')], { at: 2 + days * DAY_MILLISECONDS }), ...pieces])!;
      expect(after(13).notCut).not.toBeNull();
      expect(after(14)).toMatchObject({ notCut: null, isProven: false, isCut: false });
    }
  });

  it.each([
    [14, null],
    [16, { reason: 'slow', pieces_seconds: 16, file_seconds: 10 }],
  ])('if its pieces took together more than 1.5 times as long: %d s instead of 10 s', (seconds, expected) => {
    const pieces = cut([[passed('a')], [passed('b')]]).map(one => ({ ...one, seconds: seconds / 2 }));
    const { notCut } = knownCases([told([passed('a'), passed('b')], { seconds: 10 }), ...pieces])!;
    if (expected === null) expect(notCut).toBeNull();
    else expect(notCut).toMatchObject(expected);
  });
});
