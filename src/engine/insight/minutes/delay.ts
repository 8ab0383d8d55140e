const LEAST_MILLISECONDS = 2000;
const LEAST_PART = 0.02;

/** A file or a node stands out when its part of a delay is at least this. */
export const MAIN_PART = 0.5;

/** The shortest delay that matters in a build, in milliseconds: 2 seconds, or 2 % of its wall time if that is more. */
export function leastDelay(wall: number): number {
  return Math.max(LEAST_MILLISECONDS, wall * LEAST_PART);
}
