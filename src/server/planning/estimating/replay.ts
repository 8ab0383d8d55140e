import { DEVIATIONS_PER_MAD, median } from './median.js';
import { estimateOf, measure, type Timing } from './timing.js';

/** The duration that was expected before a build, in seconds. */
export interface Expected {
  estimate: number;
  /** Two of three builds lie between these. */
  low: number;
  high: number;
}

/** The usual variance of the logarithm of a time around its estimate, and for how many builds it counts beside those of the file. */
const USUAL_VARIANCE = 0.02;
const USUAL_COUNT = 5;
/** The deviations of so many builds make the band. */
const RECENT = 30;

/**
 * Estimates a file before each of its builds from the builds before, as the planner does for a branch that measured the file itself. The
 * first is null.
 *
 * @param times in the order of the builds; `at` in milliseconds since 1970
 */
export function replay(times: readonly { seconds: number; at: number }[]): (Expected | null)[] {
  const expected: (Expected | null)[] = [];
  const deviations: number[] = [];
  let timing: Timing | undefined;
  for (const [build, { seconds, at }] of times.entries()) {
    const before = timing ? expectedOf(estimateOf(timing), deviations) : null;
    expected.push(before);
    if (before) deviations.push(Math.abs(Math.log(seconds / before.estimate)));
    timing = measure(timing, { build, seconds, at, began: at, run: 'first' }) ?? timing;
  }
  return expected;
}

function expectedOf(estimate: number, deviations: readonly number[]): Expected {
  const recent = deviations.slice(-RECENT);
  const usual = DEVIATIONS_PER_MAD * median(recent);
  const variance = (recent.length * usual * usual + USUAL_COUNT * USUAL_VARIANCE) / (recent.length + USUAL_COUNT);
  const factor = Math.exp(Math.sqrt(variance));
  return { estimate, low: estimate / factor, high: estimate * factor };
}
