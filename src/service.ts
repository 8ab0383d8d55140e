import type { Config } from './config.js';
import type { Lease } from './engine/leases.js';
import { listen } from './http/server.js';
import { Comparisons } from './jobs/comparisons.js';
import { JobPool } from './jobs/pool.js';
import { limits } from './limits.js';
import type { Logger } from './log.js';
import { toWeight } from './plan/weight.js';
import type { Context } from './routes/context.js';
import { route } from './routes/table.js';
import { SteadyClock } from './steady-clock.js';
import { commit } from './store/commit.js';
import { expireStep, expirePaths } from './store/expiry.js';
import { lockFolder } from './store/lock.js';
import { closeStore, openStore, type Store } from './store/open.js';
import { createProject, findProject } from './store/projects.js';
import { Queues } from './store/queues.js';
import { learnRest } from './store/timings.js';
import { createToken, findToken } from './store/tokens.js';

const DAY_MILLISECONDS = 86_400_000;
const DEFAULT_PROJECT = 'default';

export interface Service {
  url: string;
  /** The token of the project that the first start made; null at every other start. */
  firstToken: string | null;
  /** Deletes everything that is older than the retention; resolves when nothing is left to delete. */
  sweep(): Promise<void>;
  /** Answers what is in flight, then closes everything in the reverse order of opening. */
  close(): Promise<void>;
}

/** What a service lives in. */
export interface Surroundings {
  now?: () => number;
  uptime?: () => number;
  /** Told when the disk fails the store: no promise is kept from then on, and only the end of the process helps. */
  storeFailed?: (error: Error) => void;
}

/** Opens store, jobs and HTTP, and keeps the one recurring timer: the expiry sweep. */
export async function openService(
  config: Config,
  log: Logger,
  { now = Date.now, uptime = () => performance.now(), storeFailed = () => {} }: Surroundings = {},
): Promise<Service> {
  const { dataDir, publicUrl, clientVersions } = config;
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const store = openStore(dataDir, storeFailed);
    let unlock = async () => {};
    closers.push(async () => {
      await closeStore(store);
      // Not before: the next server reads what this one wrote last.
      await unlock();
    });
    unlock = await lockFolder(dataDir);
    await learnRest(store, log);
    store.journal.recover();

    const tokenHeader = `${config.headerPrefixes[0]}-TEST-SUITE-TOKEN`;
    const pullCost = toWeight(config.pullCostSeconds);
    const jobs = new JobPool(store, { dataDir, workers: config.workers, tokenHeader, pullCost }, log);
    closers.push(() => jobs.close());
    await jobs.warmUp();

    const queues = new Queues(store, { cacheBytes: config.queueCacheBytes, pullCost, lease: leaseOf(config, uptime) });
    const { sweep, stop } = startSweeping(store, queues, config.retentionDays, log, new SteadyClock(now, uptime, store.meta.get('known')));
    closers.push(stop);

    // A client that is refused stops for good: the token exists before the port does.
    if (config.bootstrapToken !== null) await ensureBootstrapToken(store, config.bootstrapToken, now(), log);
    const comparisons = new Comparisons(jobs);
    const context: Context = { store, queues, jobs, comparisons, log, now, publicUrl, clientVersions, tokenHeader };
    const http = await listen({ ...config, bodySeconds: limits.bodySeconds, heldBytes: limits.heldBytes }, request => route(context, request), log);
    closers.push(() => {
      comparisons.close();
      return http.drain();
    });

    // Only now: a token that is made but never shown, because the port was taken, would be lost.
    const isFirstStart = store.projects.getKeysCount({ limit: 1 }) === 0;
    const firstToken = isFirstStart ? (await createProject(store, DEFAULT_PROJECT, now())).token : null;
    return { url: http.url, firstToken, sweep, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function leaseOf({ leaseFactor, leaseGraceSeconds }: Config, uptime: () => number): Lease | null {
  return leaseFactor === 0 ? null : { factor: leaseFactor, graceMilliseconds: 1000 * leaseGraceSeconds, uptime };
}

const pause = () => new Promise(resolve => setTimeout(resolve, limits.sweepPauseMilliseconds));

/** Sweeps now and then what is older than the retention. */
function startSweeping(store: Store, queues: Queues, retentionDays: number, log: Logger, clock: SteadyClock) {
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
  const start = () => {
    sweeping ??= sweep(clock.time())
      .catch((err: unknown) => log.error({ err }, 'the expiry sweep failed; it starts again later'))
      .finally(() => (sweeping = null));
  };
  start();
  const daysAhead = Math.round((clock.now() - clock.known) / DAY_MILLISECONDS);
  if (daysAhead > 0) log.warn({ days: daysAhead }, 'the clock is ahead of when this store was last served: what is deleted for its age comes after that in half the time');
  const timer = setInterval(start, limits.sweepEveryMilliseconds);
  const stop = async () => {
    stopping = true;
    clearInterval(timer);
    await sweeping;
  };
  return { sweep: () => sweep(clock.now()), stop };
}

/** Makes sure that the project "default" exists with this token. */
async function ensureBootstrapToken(store: Store, bootstrapToken: string, now: number, log: Logger): Promise<void> {
  const token = findToken(store, bootstrapToken);
  if (token) {
    if (token.revoked_at !== null) log.warn('the token in BALLAST_BOOTSTRAP_TOKEN was revoked and stays so');
    return;
  }
  const project = findProject(store, DEFAULT_PROJECT);
  if (project) await createToken(store, project.id, now, bootstrapToken);
  else await createProject(store, DEFAULT_PROJECT, now, bootstrapToken);
}
