import { toWeight } from '../../../planning/weight.js';
import type { Observed } from './observed.js';
import type { PlayedSuite } from './play.js';

/** Test files with two durations each, in seconds. */
export interface FileTimes {
  paths: string[];
  /** To plan with. */
  estimates: number[];
  /** That they take on a node of usual speed. */
  seconds: number[];
}

/** The suite in planning order, and its paths. */
export interface NamedSuite {
  suite: PlayedSuite;
  paths: string[];
}

/** The recorded times as a node of usual speed would have taken; the estimate of a file that was not recorded. */
export function usualSeconds({ seconds, nodes }: Observed, speeds: Float64Array, estimates: Float64Array): Float64Array {
  return seconds.map((time, file) => (Number.isNaN(time) ? estimates[file]! || 0 : time * speeds[nodes[file]!]!));
}

/** Puts pieces in the place of a file. @param file its index @param parts the part of the file in each piece */
export function cutIntoParts({ paths, estimates, seconds }: FileTimes, file: number, parts: Float64Array): void {
  const [path, estimate, time] = [paths[file]!, estimates[file]!, seconds[file]!];
  for (const [i, part] of parts.entries()) {
    const at = i === 0 ? file : paths.length;
    paths[at] = path;
    estimates[at] = estimate * part;
    seconds[at] = time * part;
  }
}

export function inPlanningOrder({ paths, estimates, seconds }: FileTimes): NamedSuite {
  const weights = estimates.map(toWeight);
  const order = [...paths.keys()].sort((a, b) => weights[b]! - weights[a]! || (paths[a]! < paths[b]! ? -1 : 1));
  return {
    suite: { weights: Float64Array.from(order, file => weights[file]!), seconds: Float64Array.from(order, file => seconds[file]!) },
    paths: order.map(file => paths[file]!),
  };
}
