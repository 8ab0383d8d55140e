/** Draws from a generator of numbers from 0 to 1. */
export type Random = () => number;

export const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

/** A whole number from 1 to `most`. */
export const wholeUpTo = (random: Random, most: number): number => 1 + Math.floor(random() * most);
