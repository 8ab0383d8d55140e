import type { DayTrend } from '../../protocol/answers/trends.js';
import { priceText } from '../../protocol/price.js';
import { count } from './format.js';

/**
 * Says what the last days cost: "The last 30 days cost $61.61: 1,312 jobs of 84 CI runs, on all branches." Empty: nobody paid, or there is no
 * price. Prices in several currencies are not added up.
 */
export function costSentences(days: number, spent: readonly Pick<DayTrend, 'price' | 'jobs' | 'ci_runs'>[], where: string): string[] {
  const amounts = new Map<string, number>();
  for (const { price } of spent) if (price) amounts.set(price.currency, (amounts.get(price.currency) ?? 0) + price.amount);
  const sumOf = (name: 'jobs' | 'ci_runs') => spent.reduce((sum, each) => sum + each[name], 0);
  if (amounts.size === 0 || sumOf('jobs') === 0) return [];
  const cost = Array.from(amounts, ([currency, amount]) => priceText({ amount, currency })).join(' and ');
  return [`The last ${count(days, 'day')} cost ${cost}: ${count(sumOf('jobs'), 'job')} of ${count(sumOf('ci_runs'), 'CI run')}${where}.`];
}
