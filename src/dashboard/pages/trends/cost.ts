import type { DayTrend } from '../../../protocol/answers/trends.js';
import { costOfSum, type PriceSettings, priceText } from '../../../protocol/price.js';
import { count } from '../../text/format.js';

type Jobs = Pick<DayTrend, 'jobs' | 'job_seconds'>;

/** Approximate price of the jobs of some days; null: the project has no price. */
export function costText(settings: PriceSettings, { jobs, job_seconds }: Jobs): string | null {
  const cost = costOfSum(settings, { jobs, seconds: job_seconds });
  return cost && priceText(cost);
}

/** Says the price of the builds of the last days: "The 65 builds of the last 30 days cost about $61.61." Empty: the project has no price. */
export function costSentences(settings: PriceSettings, { builds, ...jobs }: Jobs & Pick<DayTrend, 'builds'>, days: number): string[] {
  const cost = costText(settings, jobs);
  return cost === null
    ? []
    : [`The ${builds === 1 ? 'only build' : count(builds, 'build')} of the last ${count(days, 'day')} cost about ${cost}.`];
}
