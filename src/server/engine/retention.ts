import { DAY_MILLISECONDS } from '../../base/time.js';
import type { ExpiringKind } from './ports/maintenance.js';
import type { Millis, Store } from './ports/store.js';

/** Records that one step of the expiry sweep deletes, approximately. */
export const EXPIRED_PER_STEP = 400;
/** The interval of sweeps. */
export const SWEEP_EVERY_MILLISECONDS = 600_000;
/** Time after the deletion of a project at which its data are deleted: longer than any request takes. */
const DELETED_PROJECT_MILLISECONDS = 300_000;
/** Interval at which the last use of a split, queue or token is stored: a small part of the shortest retention, a day. */
export const LAST_USE_UPDATE_MILLISECONDS = 3_600_000;

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
  const times = { before: now - retentionDays * DAY_MILLISECONDS, deletedBefore: time - DELETED_PROJECT_MILLISECONDS };
  for await (const _ of maintenance.sweep(times, count)) {
    if (isStopping()) return;
    await pause();
  }
}

/** The time until which a split or queue is kept, because it was used after `before`, when records expire. Null: it expires. */
export function putOffUntil({ used_at }: { used_at: Millis }, before: Millis): Millis | null {
  return used_at >= before ? used_at : null;
}

/**
 * When the rest of a build expires.
 * @param oldest the time of the oldest run that is left; null: the only run left was recorded during the step
 */
export function expiryOfRest(build: { updated_at: Millis }, oldest: Millis | null, before: Millis): Millis {
  return Math.max(before, oldest ?? build.updated_at);
}

/**
 * Reports whether the times of a path expire. They are kept a little longer than other records, because not every recording of the path updates
 * `seen_at`.
 */
export function isPathExpired(seen_at: Millis, before: Millis): boolean {
  return seen_at < before - LAST_USE_UPDATE_MILLISECONDS;
}
