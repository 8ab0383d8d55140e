import type { MinutesAnswer } from '../../../protocol/answers/minutes.js';
import { type PriceSettings, paidSeconds, priceText } from '../../../protocol/price.js';
import { count, number } from '../../text/format.js';

/** Says the price of a build: "This build cost $1.06: 12 nodes, 132 paid minutes." Null: the project has no price. */
export function costSentence({ price, nodes, is_running }: Pick<MinutesAnswer, 'price' | 'nodes' | 'is_running'>, settings: PriceSettings) {
  if (price === null) return null;
  const jobs = nodes.flatMap(({ start, end }) => (start === null || end === null ? [] : [end - start]));
  const cost = is_running ? `has cost ${priceText(price)} so far` : `cost ${priceText(price)}`;
  return `This build ${cost}: ${count(jobs.length, 'node')}, ${minutesText(paidSeconds(settings, jobs))}.`;
}

function minutesText(seconds: number): string {
  const minutes = seconds / 60;
  return minutes < 9.95 && !Number.isInteger(minutes) ? `${number(minutes, 1)} paid minutes` : count(Math.round(minutes), 'paid minute');
}
