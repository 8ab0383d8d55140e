import { DAY_MILLISECONDS } from '../../base/time.js';
import type { DayTrend } from '../../protocol/answers/trends.js';
import { priceText } from '../../protocol/price.js';
import { count, number } from './format.js';

/**
 * Says what the days since the first build cost: "The last 12 days cost $61.61: 1,312 jobs of 84 CI runs, on all branches." Empty: nobody
 * paid, or there is no price. Prices in several currencies are not added up.
 */
export function costSentences(
  spent: readonly Pick<DayTrend, 'since' | 'price' | 'jobs' | 'ci_runs'>[],
  where: string,
  now = Date.now(),
): string[] {
  const amounts = new Map<string, number>();
  for (const { price } of spent) if (price) amounts.set(price.currency, (amounts.get(price.currency) ?? 0) + price.amount);
  const sumOf = (name: 'jobs' | 'ci_runs') => spent.reduce((sum, each) => sum + each[name], 0);
  if (amounts.size === 0 || sumOf('jobs') === 0) return [];
  const since = Math.min(...spent.map(({ since }) => Date.parse(since)));
  const days = Math.max(1, Math.ceil((now - since) / DAY_MILLISECONDS));
  const cost = Array.from(amounts, ([currency, amount]) => priceText({ amount, currency })).join(' and ');
  return [
    `The last ${days === 1 ? 'day' : `${number(days)} days`} cost ${cost}: ${count(sumOf('jobs'), 'job')} of ${count(sumOf('ci_runs'), 'CI run')}${where}.`,
  ];
}
