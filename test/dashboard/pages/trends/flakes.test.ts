import { expect, it } from 'vitest';
import { flakeSentences } from '../../../../src/dashboard/pages/trends/flakes.js';

const said = (seconds: number, later: number, days = 30) => flakeSentences({ days, builds: 3, seconds, later });

it.each([
  [11_520, 2460, 'Flaky files cost 3.2 node-hours and made builds end 41 m 00 s later in the last 30 days, on all branches.'],
  [12, 0, 'Flaky files cost 12 node-seconds in the last 30 days, on all branches.'],
  [0, 90, 'Flaky files made builds end 90 s later in the last 30 days, on all branches.'],
])('flaky files cost %f seconds, and builds ended %f seconds later', (seconds, later, sentence) => {
  expect(said(seconds, later)).toEqual([sentence]);
});

it('flaky files that cost nothing are not told', () => expect(said(0, 0)).toEqual([]));
