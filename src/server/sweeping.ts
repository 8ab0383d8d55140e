import type { Maintenance } from '../engine/ports/maintenance.js';
import { limits } from '../limits.js';
import type { Logger } from './log.js';
import type { SlewedClock } from './slewed-clock.js';

const DAY_MILLISECONDS = 86_400_000;

/** What sweeps did so far. */
export interface Swept {
  /** When the last one that was on time ended, in milliseconds since 1970; null: none has. */
  endedAt: number | null;
  /** What it took. */
  seconds: number;
  /** What all of them deleted, by kind. */
  readonly deleted: Record<string, number>;
}

export interface Sweeping {
  /** Resolves when nothing is left to delete. */
  sweep(): Promise<void>;
  readonly swept: Swept;
  stop(): Promise<void>;
}

const pause = () => new Promise(resolve => setTimeout(resolve, limits.sweepPauseMilliseconds));

/** Sweeps now and then what is older than the retention. */
export function startSweeping(maintenance: Maintenance, retentionDays: number, log: Logger, clock: SlewedClock): Sweeping {
  let stopping = false;
  const swept: Swept = { endedAt: null, seconds: 0, deleted: { subset: 0, split: 0, queue: 0, path: 0 } };
  const counted = (kind: string) => void (swept.deleted[kind]! += 1);
  const sweep = async (time: number) => {
    await maintenance.keepTime(clock.known);
    const before = time - retentionDays * DAY_MILLISECONDS;
    for await (const _ of maintenance.sweep(before, counted)) {
      await pause();
      if (stopping) return;
    }
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
      .finally(() => (sweeping = null));
  };
  start();
  const daysAhead = Math.round((clock.now() - clock.known) / DAY_MILLISECONDS);
  if (daysAhead > 0)
    log.warn(
      { days: daysAhead },
      'the clock is ahead of when this store was last served: what is deleted for its age follows, a day in an hour',
    );
  const timer = setInterval(start, limits.sweepEveryMilliseconds);
  const stop = async () => {
    stopping = true;
    clearInterval(timer);
    await sweeping;
    clock.time();
    // A store that takes no more is told of elsewhere.
    await maintenance.keepTime(clock.known).catch(() => {});
  };
  return { sweep: () => sweep(clock.now()), swept, stop };
}
