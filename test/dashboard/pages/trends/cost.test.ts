import { describe, expect, it } from 'vitest';
import { costSentences } from '../../../../src/dashboard/pages/trends/cost.js';
import { noSettings } from '../../../../src/protocol/project-settings.js';

const settings = { ...noSettings, price: { amount: 0.008, currency: 'USD' }, setup: 40, billing_step: 60 };
const jobs = { jobs: 780, job_seconds: 400_000 };

describe('what the builds of the last days cost', () => {
  it('is a sentence about all of them', () => {
    expect(costSentences(settings, { builds: 65, ...jobs }, 30)).toEqual(['The 65 builds of the last 30 days cost about $60.61.']);
    expect(costSentences(settings, { builds: 1, jobs: 1, job_seconds: 600 }, 90)).toEqual([
      'The only build of the last 90 days cost about $0.089.',
    ]);
  });

  it('is no sentence without a price', () => {
    expect(costSentences(noSettings, { builds: 65, ...jobs }, 30)).toEqual([]);
  });
});
