import { describe, expect, it } from 'vitest';
import { flakySentences, nodesText, rateTexts } from '../../../../src/dashboard/pages/flaky/sentences.js';
import type { FlakyState } from '../../../../src/protocol/answers/flaky.js';

const file = (state: FlakyState, seconds = 0, later = 0, amount: number | null = null) => ({
  ...{ state, seconds, later },
  cost: amount === null ? null : { amount, currency: 'USD' },
});
const said = (files: ReturnType<typeof file>[], more: { file_count?: number; tells_outcomes?: boolean } = {}) =>
  flakySentences({ since: '2026-11-02T12:00:00Z', tells_outcomes: true, file_count: files.length, files, ...more });

describe('the first line of the flaky files', () => {
  it('counts them and adds up what they cost', () => {
    expect(said([file('flaky', 600, 400), file('suspected', 120, 90), file('healing')])).toEqual([
      '3 test files are flaky: they cost 12 node-minutes and made builds end 8 m 10 s later since 2026-11-02.',
    ]);
    expect(said([file('flaky', 30.2, 0, 0.3)])).toEqual(['1 test file is flaky: it cost 31 node-seconds ($0.30) since 2026-11-02.']);
    expect(said([file('flaky', 7200, 0, 1.5), file('flaky', 7200, 0, 1.5)])[0]).toContain('they cost 4 node-hours ($3.00) since');
  });

  it('says that nothing was run again for those that only the test runner repeated', () => {
    expect(said([file('suspected')])).toEqual(['1 test file is flaky: nodes ran nothing again because of it since 2026-11-02.']);
  });

  it('counts failing and healed files apart', () => {
    expect(said([file('flaky', 600), file('failing', 900), file('healed', 900), file('healed', 60)])).toEqual([
      '1 test file is flaky: it cost 10 node-minutes since 2026-11-02.',
      '1 test file fails at the last commits of the default branch.',
      '2 test files have healed.',
    ]);
    expect(said([file('healed', 900)])).toEqual(['No test file is flaky now.', '1 test file has healed.']);
  });

  it('does not count files that it does not have', () => {
    expect(said([file('flaky', 600)], { file_count: 9 })[0]).toMatch(/^At least 1 test file is flaky: /);
  });

  it('says that none is known, and that nobody could know', () => {
    expect(said([])).toEqual(['No flaky test file is known.']);
    expect(said([], { tells_outcomes: false })).toEqual(['No client told which test files failed, so none is known to be flaky.']);
  });
});

describe('a rate', () => {
  it.each([
    [0.0391, 0.0114, 0.0912, '4 % (1–9 %)'],
    [0.004, 0.0008, 0.0211, '0.4 % (0.1–2 %)'],
    [0.75, 0, 1, '75 % (0–100 %)'],
  ])('of %f has its interval', (rate, low, high, text) => {
    expect(Object.values(rateTexts({ rate, low, high })).join(' ').replaceAll('\u202f', ' ')).toBe(text);
  });
});

describe('the nodes of a file', () => {
  it.each([
    [[], ''],
    [[0, 3, 5], '0, 3, 5'],
    [[0, 3, 5, 6, 11], '0, 3, 5 +2'],
  ])('are named up to three: %j', (nodes, text) => expect(nodesText(nodes)).toBe(text));
});
