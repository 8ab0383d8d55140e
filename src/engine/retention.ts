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
