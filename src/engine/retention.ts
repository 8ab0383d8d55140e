import { limits } from '../limits.js';
import { DAY_MILLISECONDS } from '../time.js';
import type { ExpiringKind } from './ports/maintenance.js';
import type { Millis, Store } from './ports/store.js';

/**
 * Deletes records older than the retention, and what deleted projects recorded, with a pause between bounded steps, until none is left or
 * `isStopping`.
 *
 * @param now by which records expire
 * @param time by which projects were deleted
 */
export async function deleteExpired(
  { maintenance }: Store,
  now: Millis,
  time: Millis,
  retentionDays: number,
  { count, pause, isStopping }: { count: (kind: ExpiringKind) => void; pause: () => Promise<unknown>; isStopping: () => boolean },
): Promise<void> {
  const times = { before: now - retentionDays * DAY_MILLISECONDS, deletedBefore: time - limits.deletedProjectMilliseconds };
  for await (const _ of maintenance.sweep(times, count)) {
    if (isStopping()) return;
    await pause();
  }
}

/**
 * Until when the expiry of a split or queue is put off: it was used after `before`, by which records expire. Null: it expires.
 */
export function putOffUntil({ used_at }: { used_at: Millis }, before: Millis): Millis | null {
  return used_at >= before ? used_at : null;
}

/**
 * When the rest of a build expires.
 * @param oldest when the oldest run was recorded that is left; null: a run was recorded meanwhile, and is the only one
 */
export function expiryOfRest(build: { updated_at: Millis }, oldest: Millis | null, before: Millis): Millis {
  return Math.max(before, oldest ?? build.updated_at);
}

/**
 * Whether the times of a path expire that was last recorded at `seen_at`. Later than other records, because `seen_at` is not written at
 * every run.
 */
export function isPathExpired(seen_at: Millis, before: Millis): boolean {
  return seen_at < before - limits.lastUseUpdateMilliseconds;
}
