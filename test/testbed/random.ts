import type { Random } from '../../src/server/insight/what-if/deviations.js';

export { type Random, seededRandom } from '../../src/server/insight/what-if/deviations.js';

/** Draws one of the items. */
export const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!;

/** Draws a whole number from 1 to `most`. */
export const randomInteger = (random: Random, most: number): number => 1 + Math.floor(random() * most);

/** Draws from the standard normal distribution (Box and Muller 1958). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
