import { agree } from '../../../base/plural.js';
import type { FlakyAnswer, FlakyFile } from '../../../protocol/answers/flaky.js';
import { priceText } from '../../../protocol/price.js';
import { count, duration, isoDay, nodeTime, number } from '../../text/format.js';

const MINUTE = 60;
/** Nodes that a cell names. */
const NAMED = 3;

type Listed = Pick<FlakyAnswer, 'since' | 'tells_outcomes' | 'file_count'> & {
  files: Pick<FlakyFile, 'state' | 'seconds' | 'cost' | 'later'>[];
};

/** Says how many files are flaky, and what these cost. Healed files cost nothing more, and failing ones are counted apart. */
export function flakySentences({ since, tells_outcomes, files, file_count }: Listed): string[] {
  if (!tells_outcomes) return ['No client told which test files failed, so none is known to be flaky.'];
  if (files.length === 0) return ['No flaky test file is known.'];
  const healed = files.filter(({ state }) => state === 'healed').length;
  const failing = files.filter(({ state }) => state === 'failing').length;
  const flaky = files.filter(({ state }) => state !== 'healed' && state !== 'failing');
  const least = file_count > files.length ? 'At least ' : '';
  return [
    flaky.length === 0
      ? 'No test file is flaky now.'
      : `${least}${count(flaky.length, 'test file is', 'test files are')} flaky: ${costText(flaky)}${since === null ? '' : ` since ${isoDay(since)}`}.`,
    failing > 0 ? `${count(failing, 'test file fails', 'test files fail')} at the last commits of the default branch.` : '',
    healed > 0 ? `${count(healed, 'test file has', 'test files have')} healed.` : '',
  ].filter(Boolean);
}

function costText(files: Listed['files']): string {
  const sumOf = (partOf: (file: Listed['files'][number]) => number) => files.reduce((sum, file) => sum + partOf(file), 0);
  const seconds = sumOf(file => file.seconds);
  const later = sumOf(file => file.later);
  // One project has one currency.
  const [cost] = files.flatMap(({ cost }) => cost ?? []);
  const price = cost ? ` (${priceText({ ...cost, amount: sumOf(file => file.cost?.amount ?? 0) })})` : '';
  const effects = effectsText({ seconds, later }, price);
  return effects
    ? `${agree(files.length, 'it', 'they')} ${effects}`
    : `nodes ran nothing again because of ${agree(files.length, 'it', 'them')}`;
}

/** What flaky files did: "cost 3.2 node-hours and made builds end 41 m 00 s later". Empty: nothing. */
export function effectsText({ seconds, later }: Pick<FlakyFile, 'seconds' | 'later'>, price = ''): string {
  return [
    seconds > 0 && `cost ${seconds < MINUTE ? count(Math.ceil(seconds), 'node-second') : nodeTime(seconds)}${price}`,
    later > 0 && `made builds end ${duration(later)} later`,
  ]
    .filter(Boolean)
    .join(' and ');
}

/** The part of the builds in which a file is flaky, with its interval, as `4 %` and `(1–9 %)`. */
export function rateTexts({ rate, low, high }: Pick<FlakyFile, 'rate' | 'low' | 'high'>): { rate: string; interval: string } {
  return { rate: `${partText(rate)}\u202f%`, interval: `(${partText(low)}–${partText(high)}\u202f%)` };
}

/** A file that takes so much longer or shorter when it fails is worth a word: nodes differ by less. */
const NOTABLE = 1.5;

/** Reports whether a flaky file takes another time when it fails. */
export function isOther(slowdown: number | null): slowdown is number {
  return slowdown !== null && (slowdown >= NOTABLE || slowdown <= 1 / NOTABLE);
}

/** So few builds tell the rate that its decimals mean nothing from 1 % on. */
function partText(part: number): string {
  const value = 100 * part;
  return number(value, value > 0 && value < 0.95 ? 1 : 0);
}

/** The first nodes of a list: `0, 3, 5 +4`. */
export function nodesText(nodes: readonly number[]): string {
  const more = nodes.length - NAMED;
  return nodes.slice(0, NAMED).join(', ') + (more > 0 ? ` +${more}` : '');
}
