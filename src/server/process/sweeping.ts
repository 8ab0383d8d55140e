import { DAY_MILLISECONDS } from '../../base/time.js';
import type { ExpiringKind } from '../engine/ports/maintenance.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { deleteExpired, SWEEP_EVERY_MILLISECONDS } from '../engine/retention.js';
import { deleteEndedSignIns } from '../engine/sign-in/sign-in.js';
import type { Logger } from './log.js';

/** The pause between two steps of the sweep. */
const SWEEP_PAUSE_MILLISECONDS = 20;

/** A step of the system clock up to this size takes effect immediately. */
const MAX_STEP_MILLISECONDS = 3_600_000;
/** A larger step is approached at this multiple of elapsed time. */
const SLEW_RATE = 24;

/**
 * The system time, protected against large forward steps: if the system clock is far ahead of the elapsed time, this clock
 * approaches it slowly. A wrong system clock, or the restore of an old backup, therefore does not delete records for their age.
 */
export class SlewedClock {
  #askedAt: number;

  /**
   * @param now milliseconds since 1970
   * @param uptime monotonic milliseconds since any moment
   * @param reached the time that this clock had reached, perhaps in an earlier process, in milliseconds since 1970
   */
  constructor(
    readonly now: () => number,
    readonly uptime: () => number,
    public reached = now(),
  ) {
    this.#askedAt = uptime();
  }

  /** Returns milliseconds since 1970. */
  time(): number {
    const now = this.now();
    const uptime = this.uptime();
    const slewed = this.reached + SLEW_RATE * (uptime - this.#askedAt);
    this.#askedAt = uptime;
    this.reached = Math.max(this.reached, Math.min(now, slewed));
    return Math.min(now, slewed + MAX_STEP_MILLISECONDS);
  }
}

/** The results of the sweeps so far. */
export interface Swept {
  /** When the last scheduled sweep ended; null: none has. */
  endedAt: Millis | null;
  /** Time that the sweep took. */
  seconds: number;
  /** Number of records that all sweeps deleted, by kind. */
  readonly deleted: Record<ExpiringKind, number>;
}

/** Deletes records older than the retention, now and at intervals. `sweep` does so at once, and resolves when none is left. */
export function startSweeping(store: Store, retentionDays: number, log: Logger, clock: SlewedClock) {
  let isStopping = false;
  const swept: Swept = { endedAt: null, seconds: 0, deleted: { subset: 0, split: 0, queue: 0, ci_run: 0, path: 0, day: 0, project: 0 } };
  const options = {
    count: (kind: ExpiringKind) => void (swept.deleted[kind] += 1),
    pause: () => new Promise(resolve => setTimeout(resolve, SWEEP_PAUSE_MILLISECONDS)),
    isStopping: () => isStopping,
  };
  const sweep = async (time: Millis) => {
    await store.values.put('clock', clock.reached);
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
  const timer = setInterval(start, SWEEP_EVERY_MILLISECONDS);
  const stop = async () => {
    isStopping = true;
    clearInterval(timer);
    await sweeping;
    clock.time();
    // A store that refuses writes is reported elsewhere.
    await store.values.put('clock', clock.reached).catch(() => {});
  };
  return { sweep: () => sweep(clock.now()), swept, stop };
}
