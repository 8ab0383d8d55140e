import { toSeconds, toWeight } from '../weight.js';
import { type Level, secondsOf, updateLevel } from './level.js';
import { median } from './median.js';

/** What is known of the time of one path on one branch: of bounded size, whatever was recorded. */
export interface Timing {
  /** The level over all builds but the last that measured the path; null: there were none. */
  before: Level | null;
  /** A number for the last build that measured the path, and what its runs measured, in seconds. Their median counts. */
  build: number;
  times: number[];
  /** When the last of them was recorded, in milliseconds since 1970. */
  at: number;
}

export interface Measurement {
  build: number;
  seconds: number;
  /** When the run was recorded, and the first of its build, in milliseconds since 1970. */
  at: number;
  began: number;
  run: RunKind;
}

/** The first run of a node in a build, or a further one. */
export type RunKind = 'first' | 'retried';

/** Runs of a path in one build beyond these displace the oldest. */
const TIMES_KEPT = 9;
/** A first time on a branch so many times above what is known elsewhere is held back until it repeats. */
const ABSURD_FACTOR = 10;

/**
 * The timing after a measurement. A build counts once, however often it ran the path: null, and nothing to change,
 * when another build has measured the path since that of a retry began.
 * @param elsewhere the timing on another branch, when this is the first value on its own
 */
export function measure(timing: Timing | undefined, { build, seconds, at, began, run }: Measurement, elsewhere?: Timing): Timing | null {
  if (!timing) {
    const isAbsurd = elsewhere && seconds > ABSURD_FACTOR * estimateOf(elsewhere);
    return { before: isAbsurd ? levelOf(elsewhere) : null, build, times: [seconds], at };
  }
  if (timing.build === build) {
    return { before: timing.before, build, times: [...timing.times, seconds].slice(-TIMES_KEPT), at: Math.max(at, timing.at) };
  }
  if (run === 'retried' && timing.at >= began) return null;
  return { before: levelOf(timing), build, times: [seconds], at: Math.max(at, timing.at) };
}

/** Seconds that the path is expected to take: of one build exactly what that measured, else in tenths of milliseconds. */
export function estimateOf(timing: Timing): number {
  return timing.before === null ? median(timing.times) : toSeconds(toWeight(secondsOf(levelOf(timing))));
}

function levelOf({ before, times, at }: Timing): Level {
  return updateLevel(before, median(times), at);
}
