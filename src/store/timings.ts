import { limits } from '../limits.js';
import { digest } from './digest.js';
import type { Store } from './open.js';
import type { Millis } from './records.js';

export function timingKey(project: number, path: string): string {
  return digest(project, path);
}

/** Seconds by path, in the order of the paths; null where none was ever measured. */
export function timingsOf(store: Store, project: number, paths: readonly string[]): (number | null)[] {
  return paths.map(path => store.timings.get(timingKey(project, path))?.seconds ?? null);
}

/** Measured times, by timingKey. */
export interface Measured {
  timingKeys: readonly string[];
  seconds: Float64Array;
}

/**
 * Within a write transaction: records times from the given one on, as many as one transaction may hold, so
 * that a large suite does not hold up everybody else's commits. Returns where to go on, null at the end.
 */
export function putTimings(store: Store, { timingKeys, seconds }: Measured, from: number, now: Millis): number | null {
  const end = Math.min(timingKeys.length, from + limits.timingsPerCommit);
  for (let i = from; i < end; i++) void store.timings.put(timingKeys[i]!, { v: 1, seconds: seconds[i]!, at: now });
  return end < timingKeys.length ? end : null;
}
