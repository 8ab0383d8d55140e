import { DAY_MILLISECONDS } from '../time.js';
import type { ExpiringKind } from './ports/maintenance.js';
import type { Millis, Store } from './ports/store.js';

/** Deletes records older than the retention, with a pause between bounded steps, until none is left or `isStopping`. */
export async function deleteExpired(
  { maintenance }: Store,
  now: Millis,
  retentionDays: number,
  { count, pause, isStopping }: { count: (kind: ExpiringKind) => void; pause: () => Promise<unknown>; isStopping: () => boolean },
): Promise<void> {
  for await (const _ of maintenance.sweep(now - retentionDays * DAY_MILLISECONDS, count)) {
    if (isStopping()) return;
    await pause();
  }
}
