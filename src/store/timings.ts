import { limits } from '../limits.js';
import { digest } from './digest.js';
import { commit, type Store } from './open.js';
import type { Millis } from './records.js';

export function timingKey(project: number, path: string): string {
  return digest(project, path);
}

/** Seconds by path, in the order of the paths; null where none was ever measured. */
export function timingsOf(store: Store, project: number, paths: readonly string[]): (number | null)[] {
  return paths.map(path => store.timings.get(timingKey(project, path))?.seconds ?? null);
}

/**
 * Records measured times, by timingKey. In several transactions when they are many, so that
 * one large suite does not hold up everybody else's commits.
 */
export async function recordTimings(
  store: Store,
  keys: readonly string[],
  seconds: Float64Array,
  now: Millis,
): Promise<void> {
  for (let start = 0; start < keys.length; start += limits.timingsPerCommit) {
    const end = Math.min(keys.length, start + limits.timingsPerCommit);
    await commit(store, () => {
      for (let i = start; i < end; i++) {
        void store.timings.put(keys[i]!, { v: 1, seconds: seconds[i]!, at: now });
      }
    });
  }
}
