import type { MinutesAnswer } from '../../../protocol/answers/minutes.js';
import { priceText } from '../../../protocol/price.js';
import { count, number } from '../../text/format.js';

type Paid = Pick<MinutesAnswer, 'price' | 'jobs' | 'paid_seconds' | 'is_running' | 'other_ci_runs'>;

/** Says the price of a CI run: "This build cost $1.06: 12 jobs, 132 paid minutes." Null: the project has no price. */
export function costSentence({ price, jobs, paid_seconds, is_running, other_ci_runs }: Paid): string | null {
  if (price === null) return null;
  const name = other_ci_runs.length > 0 ? 'CI run' : 'build';
  const cost = is_running ? `has cost ${priceText(price)} so far` : `cost ${priceText(price)}`;
  return `This ${name} ${cost}: ${count(jobs, 'job')}, ${minutesText(paid_seconds)}.`;
}

function minutesText(seconds: number): string {
  const minutes = seconds / 60;
  return minutes < 9.95 && !Number.isInteger(minutes) ? `${number(minutes, 1)} paid minutes` : count(Math.round(minutes), 'paid minute');
}
