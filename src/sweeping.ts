import { limits } from './limits.js';
import type { Logger } from './log.js';
import type { SteadyClock } from './steady-clock.js';
import { commit } from './store/commit.js';
import { expirePaths, expireStep } from './store/expiry.js';
import type { Store } from './store/open.js';
import type { Queues } from './store/queues.js';

const DAY_MILLISECONDS = 86_400_000;

export interface Sweeping {
  /** Resolves when nothing is left to delete. */
  sweep(): Promise<void>;
  /** When the last one that was on time ended, in milliseconds since 1970; null: none has. */
  sweptAt(): number | null;
  stop(): Promise<void>;
}

const pause = () => new Promise(resolve => setTimeout(resolve, limits.sweepPauseMilliseconds));

/** Sweeps now and then what is older than the retention. */
export function startSweeping(store: Store, queues: Queues, retentionDays: number, log: Logger, clock: SteadyClock): Sweeping {
  let stopping = false;
  const sweep = async (time: number) => {
    await commit(store, () => void store.meta.put('known', clock.known));
    const before = time - retentionDays * DAY_MILLISECONDS;
    // What is written behind the expiry of its queue would stay for ever.
    await store.journal.checkpoint().catch(() => {});
    while (!stopping && (await expireStep(store, before, key => queues.drop(key)))) await pause();
    // What is being recorded is not looked at.
    await store.recent.save();
    for (let at: number | null = 0; !stopping && at !== null; await pause()) at = await expirePaths(store, before, at);
  };
  let sweeping: Promise<void> | null = null;
  let sweptAt: number | null = null;
  const start = () => {
    sweeping ??= sweep(clock.time())
      .then(() => void (sweptAt = clock.now()))
      .catch((err: unknown) => log.error({ err }, 'the expiry sweep failed; it starts again later'))
      .finally(() => (sweeping = null));
  };
  start();
  const daysAhead = Math.round((clock.now() - clock.known) / DAY_MILLISECONDS);
  if (daysAhead > 0) log.warn({ days: daysAhead }, 'the clock is ahead of when this store was last served: what is deleted for its age follows, a day in an hour');
  const timer = setInterval(start, limits.sweepEveryMilliseconds);
  const stop = async () => {
    stopping = true;
    clearInterval(timer);
    await sweeping;
    clock.time();
    // A store that takes no more is told of elsewhere.
    await commit(store, () => void store.meta.put('known', clock.known)).catch(() => {});
  };
  return { sweep: () => sweep(clock.now()), sweptAt: () => sweptAt, stop };
}
