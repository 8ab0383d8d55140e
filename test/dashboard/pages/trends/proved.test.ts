import { expect, it } from 'vitest';
import { provedSentences } from '../../../../src/dashboard/pages/trends/proved.js';

it.each([
  [1, 60, 'Proofs saved 1 node-minute of tests in 1 CI run of the last 30 days.'],
  [2, 15, 'Proofs saved 0.3 node-minutes of tests in 2 CI runs of the last 30 days.'],
  [3, 3600, 'Proofs saved 1 node-hour of tests in 3 CI runs of the last 30 days.'],
  [4, 3599, 'Proofs saved 60 node-minutes of tests in 4 CI runs of the last 30 days.'],
  [12, 4.25 * 3600, 'Proofs saved 4.3 node-hours of tests in 12 CI runs of the last 30 days.'],
  [31, 19.2 * 3600, 'Proofs saved 19 node-hours of tests in 31 CI runs of the last 30 days.'],
])('%s CI runs that proofs saved are told with the time of their tests', (proved_runs, proved_seconds, sentence) => {
  expect(provedSentences({ proved_runs, proved_seconds }, 30)).toEqual([sentence]);
});

it('proofs that saved nothing are not told', () => {
  expect(provedSentences({ proved_runs: 0, proved_seconds: 0 }, 30)).toEqual([]);
});
