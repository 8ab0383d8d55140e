import { toSeconds, toWeight } from '../weight.js';
import { deviationOf, FIRST_DEVIATION, type Level, secondsOf, updateLevel } from './level.js';
import { median } from './median.js';

/** The record of the durations of a path on a branch. The size of the record is bounded. */
export interface Timing {
  /** The level over all builds that measured the path, without the last one; null: there was no other. */
  before: Level | null;
  /** A number for the last build that measured the path, and the seconds of its runs. Their median counts. */
  build: number;
  times: number[];
  /** When the last of these runs was recorded, in milliseconds since 1970. */
  at: number;
}

export interface Measurement {
  build: number;
  seconds: number;
  /** When the run and the first run of its build were recorded, in milliseconds since 1970. */
  at: number;
  began: number;
  run: RunKind;
}

/** The first run of a node in a build, or a later one. */
export type RunKind = 'first' | 'retried';

/** A timing keeps this many runs of its last build, the newest ones. */
const MAX_TIMES = 9;
/** A first duration on a branch that is this many times the one elsewhere does not count before it repeats. */
const ABSURD_FACTOR = 10;

/**
 * Returns the timing after a measurement. A build counts once, however often it ran the path. Returns null, for no change, when
 * another build has measured the path since the build of this retry began.
 * @param elsewhere the timing on another branch, for the first measurement on a branch
 */
export function measure(timing: Timing | undefined, { build, seconds, at, began, run }: Measurement, elsewhere?: Timing): Timing | null {
  if (!timing) {
    const isAbsurd = elsewhere && seconds > ABSURD_FACTOR * estimateOf(elsewhere);
    return { before: isAbsurd ? levelOf(elsewhere) : null, build, times: [seconds], at };
  }
  if (timing.build === build) {
    return { before: timing.before, build, times: [...timing.times, seconds].slice(-MAX_TIMES), at: Math.max(at, timing.at) };
  }
  if (run === 'retried' && timing.at >= began) return null;
  return { before: levelOf(timing), build, times: [seconds], at: Math.max(at, timing.at) };
}

/** The forecast of a timing for the next build. */
export interface Expectation {
  /** The exact median if there is one build, else rounded to tenths of milliseconds. */
  seconds: number;
  /** The number of builds that measured the path. */
  builds: number;
  /** The usual deviation of the logarithm of the seconds. */
  deviation: number;
}

export function expectationOf(timing: Timing): Expectation {
  if (timing.before === null) return { seconds: median(timing.times), builds: 1, deviation: FIRST_DEVIATION };
  const level = levelOf(timing);
  return { seconds: toSeconds(toWeight(secondsOf(level))), builds: level.builds, deviation: deviationOf(level) };
}

/** Returns the expected seconds. */
export function estimateOf(timing: Timing): number {
  return expectationOf(timing).seconds;
}

function levelOf({ before, times, at }: Timing): Level {
  return updateLevel(before, median(times), at);
}
