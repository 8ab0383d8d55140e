import type { ExpiringKind } from '../engine/ports/maintenance.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { deleteExpired } from '../engine/retention.js';
import { deleteEndedSignIns } from '../engine/sign-in/sign-in.js';
import { limits } from '../limits.js';
import { DAY_MILLISECONDS } from '../time.js';
import type { Logger } from './log.js';
import type { SlewedClock } from './slewed-clock.js';

/** The results of the sweeps so far. */
export interface Swept {
  /** When the last scheduled sweep ended; null: none has. */
  endedAt: Millis | null;
  /** How long it took. */
  seconds: number;
  /** How many records all sweeps deleted, by kind. */
  readonly deleted: Record<ExpiringKind, number>;
}

export interface Sweeping {
  /** Deletes expired records; resolves when none is left. */
  sweep(): Promise<void>;
  readonly swept: Swept;
  stop(): Promise<void>;
}

/** Deletes records older than the retention, now and at intervals. */
export function startSweeping(store: Store, retentionDays: number, log: Logger, clock: SlewedClock): Sweeping {
  let isStopping = false;
  const swept: Swept = { endedAt: null, seconds: 0, deleted: { subset: 0, split: 0, queue: 0, ci_run: 0, path: 0, day: 0, project: 0 } };
  const options = {
    count: (kind: ExpiringKind) => void (swept.deleted[kind] += 1),
    pause: () => new Promise(resolve => setTimeout(resolve, limits.sweepPauseMilliseconds)),
    isStopping: () => isStopping,
  };
  const sweep = async (time: Millis) => {
    await store.maintenance.keepTime(clock.reached);
    await deleteEndedSignIns(store.signIns, time);
    await deleteExpired(store, time, clock.now(), retentionDays, options);
  };
  let sweeping: Promise<void> | null = null;
  const start = () => {
    const begun = performance.now();
    sweeping ??= sweep(clock.time())
      .then(() => {
        swept.endedAt = clock.now();
        swept.seconds = (performance.now() - begun) / 1000;
      })
      .catch((err: unknown) => log.error({ err }, 'the expiry sweep failed; it starts again later'))
      .finally(() => {
        sweeping = null;
      });
  };
  start();
  const days = Math.round((clock.now() - clock.reached) / DAY_MILLISECONDS);
  if (days > 0) log.warn({ days }, 'the clock is ahead of the last time this store was served; expiry follows by one day an hour');
  const timer = setInterval(start, limits.sweepEveryMilliseconds);
  const stop = async () => {
    isStopping = true;
    clearInterval(timer);
    await sweeping;
    clock.time();
    // A store that refuses writes is reported elsewhere.
    await store.maintenance.keepTime(clock.reached).catch(() => {});
  };
  return { sweep: () => sweep(clock.now()), swept, stop };
}
