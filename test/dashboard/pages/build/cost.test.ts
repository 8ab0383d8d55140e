import { describe, expect, it } from 'vitest';
import { costSentence } from '../../../../src/dashboard/pages/build/cost.js';
import type { NamedCiRun } from '../../../../src/protocol/messages/build.js';
import { costOf, type PriceSettings, paidSeconds } from '../../../../src/protocol/price.js';
import { noSettings } from '../../../../src/protocol/project-settings.js';

const settings = { ...noSettings, price: { amount: 0.5, currency: 'USD' } };
const said = (jobs: number[], asked: PriceSettings = settings, more: Partial<Parameters<typeof costSentence>[0]> = {}) => {
  const paid = { jobs: jobs.length, paid_seconds: paidSeconds(asked, jobs), price: costOf(asked, jobs) };
  return costSentence({ ...paid, is_running: false, other_ci_runs: [], ...more });
};

describe('what a build cost', () => {
  it('is a sentence about its jobs and the minutes that are paid', () => {
    expect(said([1800, 1860])).toBe('This build cost $30.50: 2 jobs, 61 paid minutes.');
    expect(said([90])).toBe('This build cost $0.75: 1 job, 1.5 paid minutes.');
    expect(said([90], { ...settings, setup: 20, billing_step: 60 })).toBe('This build cost $1.00: 1 job, 2 paid minutes.');
    expect(said([60])).toBe('This build cost $0.50: 1 job, 1 paid minute.');
  });

  it('is what it cost so far while it runs', () => {
    expect(said([600], settings, { is_running: true })).toBe('This build has cost $5.00 so far: 1 job, 10 paid minutes.');
  });

  it('is that of the CI run on the page, if the build has others', () => {
    expect(said([600], settings, { other_ci_runs: [{} as NamedCiRun] })).toBe('This CI run cost $5.00: 1 job, 10 paid minutes.');
  });

  it('is no sentence without a price', () => {
    expect(said([600], noSettings)).toBe(null);
  });
});
