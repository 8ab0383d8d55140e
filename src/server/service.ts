import type { Context } from '../api/context.js';
import { routeAdmin } from '../api/routes/admin.js';
import { endpointOf, route } from '../api/table.js';
import { createProject, createToken, findToken, hashOf } from '../engine/access.js';
import type { Lease } from '../engine/queue/leases.js';
import { chooseAdapter } from '../http/choose-adapter.js';
import type { Observe } from '../http/exchange.js';
import { MemoryBudget } from '../http/memory-budget.js';
import { listen } from '../http/server.js';
import { limits } from '../limits.js';
import { toWeight } from '../planning/weight.js';
import { serveFolder } from '../store/lmdb/serve-folder.js';
import type { LmdbStore } from '../store/lmdb/store.js';
import { version } from '../version.js';
import { CompletenessChecker } from '../workers/completeness-checker.js';
import { JobPool } from '../workers/pool.js';
import type { Config } from './config.js';
import type { Logger } from './log.js';
import { Metrics } from './metrics.js';
import { Readiness } from './readiness.js';
import { SlewedClock } from './slewed-clock.js';
import { startSweeping } from './sweeping.js';

const DEFAULT_PROJECT = 'default';

export interface Service {
  url: string;
  /** Of the admin port, null when there is none. */
  adminUrl: string | null;
  /** The token of the project that the first start made; null at every other start. */
  firstToken: string | null;
  /** Deletes everything that is older than the retention; resolves when nothing is left to delete. */
  sweep(): Promise<void>;
  /** Reads the files of the certificate again. Rejects with a sentence when they are wrong. */
  renew(): Promise<void>;
  /** Answers what is in flight, then closes everything in the reverse order of opening. */
  close(): Promise<void>;
}

/** What a service lives in. */
export interface ServiceDependencies {
  now?: () => number;
  uptime?: () => number;
  /** False: packing threads start with the first large suite, which takes longer. */
  isWarm?: boolean;
  /** Told when the disk fails the store: no promise is kept from then on, and only the end of the process helps. */
  storeFailed?: (error: Error) => void;
}

/** Opens store, jobs and HTTP, and starts the sweeps. */
export async function openService(
  config: Config,
  log: Logger,
  { now = Date.now, uptime = () => performance.now(), isWarm = true, storeFailed = () => {} }: ServiceDependencies = {},
): Promise<Service> {
  const { dataDir, publicUrl, clientVersions } = config;
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const metrics = new Metrics();
    const pullCost = toWeight(config.pullCostSeconds);
    const store = await serveFolder(dataDir, log, {
      storeFailed,
      committed: seconds => metrics.commit(seconds),
      queues: { cacheBytes: config.queueCacheBytes, pullCost, lease: leaseOf(config, now, uptime) },
    });
    closers.push(() => store.close());

    const tokenHeader = `${config.headerPrefixes[0]}-TEST-SUITE-TOKEN`;
    const jobs = new JobPool(
      store,
      {
        dataDir,
        workers: config.workers,
        leastWorkers: isWarm ? 1 : 0,
        tokenHeader,
        pullCost,
        ran: (job, waited, took) => metrics.job(job, waited, took),
      },
      log,
    );
    closers.push(() => jobs.close());
    if (isWarm) await jobs.warmUp();

    const { sweep, swept, stop } = startSweeping(
      store.maintenance,
      config.retentionDays,
      log,
      new SlewedClock(now, uptime, store.maintenance.keptTime() ?? undefined),
    );
    closers.push(stop);

    // A client that is refused stops for good: the token exists before the port does.
    if (config.bootstrapToken !== null) await ensureBootstrapToken(store, config.bootstrapToken, now(), log);
    const comparisons = new CompletenessChecker(jobs);
    const memory = new MemoryBudget(limits.heldBytes);
    const hasAdminPort = config.adminPort !== null;
    const readiness = new Readiness(store.maintenance, now, uptime);
    const context: Context = {
      store,
      readiness,
      jobs,
      comparisons,
      metrics,
      hasAdminPort,
      log,
      now,
      publicUrl,
      clientVersions,
      headerPrefixes: config.headerPrefixes,
      tokenHeader,
    };
    const ownerOf = (token: string | null) => (token === null ? null : (store.access.token(hashOf(token))?.project ?? null));
    const certificate = config.tlsCert === null || config.tlsKey === null ? null : { certFile: config.tlsCert, keyFile: config.tlsKey };
    const adapter = await chooseAdapter(config.httpServer);
    const httpOptions = {
      ...config,
      openAdapter: adapter.open,
      settings: 'BALLAST_PORT or BALLAST_HOST',
      certificate,
      bodySeconds: limits.bodySeconds,
      memory,
      ownerOf,
    };
    const observe: Observe = (path, status, seconds, unavailable) =>
      metrics.request(endpointOf(path) ?? 'unknown', status, seconds, unavailable);
    let adminUrl: string | null = null;
    if (config.adminPort !== null) {
      const options = {
        ...httpOptions,
        certificate: null,
        host: config.adminHost,
        port: config.adminPort,
        settings: 'BALLAST_ADMIN_PORT or BALLAST_ADMIN_HOST',
      };
      const admin = await listen(options, request => routeAdmin(context, request), log);
      adminUrl = admin.url;
      closers.push(() => admin.drain());
    }
    const http = await listen(httpOptions, request => route(context, request), log, observe);
    log.info(adapter.why);
    closers.push(() => {
      comparisons.close();
      return http.drain();
    });

    metrics.watch({
      version,
      httpServer: adapter.name,
      connections: () => http.connections,
      requestsInFlight: () => http.requestsInFlight,
      heldBytes: () => memory.all,
      jobs: () => jobs.load,
      queues: () => store.queues.load(),
      store: () => store.maintenance.load(),
      sweeps: () => swept,
      certificateEndsAt: () => http.certificateEndsAt,
    });

    // Only now: a token that is made but never shown, because the port was taken, would be lost.
    const isFirstStart = store.access.projects().length === 0;
    const firstToken = isFirstStart ? (await createProject(store.access, DEFAULT_PROJECT, now())).token : null;
    return { url: http.url, adminUrl, firstToken, sweep, renew: () => http.renew(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function leaseOf({ leaseFactor, leaseGraceSeconds }: Config, now: () => number, uptime: () => number): Lease | null {
  const start = uptime();
  const uptimeAt = (millis: number) => Math.max(start, uptime() - Math.max(0, now() - millis));
  return leaseFactor === 0 ? null : { factor: leaseFactor, graceMilliseconds: 1000 * leaseGraceSeconds, uptime, uptimeAt };
}

/** Makes sure that the project "default" exists with this token. */
async function ensureBootstrapToken({ access }: LmdbStore, bootstrapToken: string, now: number, log: Logger): Promise<void> {
  const token = await findToken(access, bootstrapToken);
  if (token) {
    if (token.revoked_at !== null) log.warn('the token in BALLAST_BOOTSTRAP_TOKEN was revoked and stays so');
    return;
  }
  const project = access.project(DEFAULT_PROJECT);
  if (project) await createToken(access, project.id, now, bootstrapToken);
  else await createProject(access, DEFAULT_PROJECT, now, bootstrapToken);
}
