import { limits } from '../limits.js';
import { commit } from '../store/lmdb/commit.js';
import { expirePaths, expireStep } from '../store/lmdb/expiry.js';
import type { Store } from '../store/lmdb/open.js';
import type { Queues } from '../store/lmdb/queues.js';
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

/**
 * Clears the read locks of killed processes: LMDB keeps every page of the state that such a process was reading. A lock on the
 * lock file, not a process id, shows that a reader is dead, so this also works for processes in other containers.
 */
function clearDeadReaders(store: Store, log: Logger): void {
  try {
    const readers = store.root.readerCheck();
    if (readers > 0) log.info({ readers }, 'cleared the read locks of a process that ended without closing the store');
  } catch (err) {
    log.error({ err }, 'could not clear the read locks of killed processes');
  }
}

/** Sweeps now and then what is older than the retention. */
export function startSweeping(store: Store, queues: Queues, retentionDays: number, log: Logger, clock: SlewedClock): Sweeping {
  let stopping = false;
  const swept: Swept = { endedAt: null, seconds: 0, deleted: { subset: 0, split: 0, queue: 0, path: 0 } };
  const counted = (kind: string) => void (swept.deleted[kind]! += 1);
  const sweep = async (time: number) => {
    await commit(store, () => void store.meta.put('known', clock.reached));
    const before = time - retentionDays * DAY_MILLISECONDS;
    // What is written behind the expiry of its queue would stay for ever.
    await store.journal.checkpoint().catch(() => {});
    while (!stopping && (await expireStep(store, before, key => queues.drop(key), counted))) await pause();
    // What is being recorded is not looked at.
    await store.recent.save();
    for (let at: number | null = 0; !stopping && at !== null; await pause()) at = await expirePaths(store, before, at, counted);
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
  const daysAhead = Math.round((clock.now() - clock.reached) / DAY_MILLISECONDS);
  if (daysAhead > 0)
    log.warn(
      { days: daysAhead },
      'the clock is ahead of when this store was last served: what is deleted for its age follows, a day in an hour',
    );
  const timer = setInterval(start, limits.sweepEveryMilliseconds);
  const readers = setInterval(() => clearDeadReaders(store, log), limits.staleReadersMilliseconds);
  const stop = async () => {
    stopping = true;
    clearInterval(timer);
    clearInterval(readers);
    await sweeping;
    clock.time();
    // A store that takes no more is told of elsewhere.
    await commit(store, () => void store.meta.put('known', clock.reached)).catch(() => {});
  };
  return { sweep: () => sweep(clock.now()), swept, stop };
}
