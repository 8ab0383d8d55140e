import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../api/context.js';
import { routeAdmin } from '../api/routes/admin.js';
import { endpointOf, route } from '../api/table.js';
import type { Lease } from '../engine/queue/leases.js';
import type { FileLock } from '../file-lock.js';
import { chooseAdapter } from '../http/choose-adapter.js';
import type { Observe } from '../http/exchange.js';
import { MemoryBudget } from '../http/memory-budget.js';
import { listen } from '../http/server.js';
import { limits } from '../limits.js';
import { toWeight } from '../planning/weight.js';
import { commit } from '../store/lmdb/commit.js';
import { lockFolder } from '../store/lmdb/lock.js';
import { closeStore, openStore, STORE_FILE, STORE_VERSION, type Store } from '../store/lmdb/open.js';
import { createProject, findProject } from '../store/lmdb/projects.js';
import { Queues } from '../store/lmdb/queues.js';
import { Readiness } from '../store/lmdb/readiness.js';
import { learnRest } from '../store/lmdb/timings.js';
import { createToken, findToken } from '../store/lmdb/tokens.js';
import { version } from '../version.js';
import { CompletenessChecker } from '../workers/completeness-checker.js';
import { JobPool } from '../workers/pool.js';
import type { Config } from './config.js';
import type { Logger } from './log.js';
import { type MetricSources, Metrics } from './metrics.js';
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
    const store = openStore(dataDir, storeFailed, seconds => metrics.observeCommit(seconds));
    let lock: FileLock | null = null;
    closers.push(async () => {
      await closeStore(store);
      // Not before: the next server reads what this one wrote last.
      lock?.release();
    });
    lock = lockFolder(dataDir);
    if (store.meta.get('version') !== STORE_VERSION) await commit(store, () => void store.meta.put('version', STORE_VERSION));
    await learnRest(store, log);
    store.journal.recover();

    const tokenHeader = `${config.headerPrefixes[0]}-TEST-SUITE-TOKEN`;
    const pullCost = toWeight(config.pullCostSeconds);
    const jobs = new JobPool(
      store,
      {
        dataDir,
        workers: config.workers,
        leastWorkers: isWarm ? 1 : 0,
        tokenHeader,
        pullCost,
        ran: (job, waited, took) => metrics.observeJob(job, waited, took),
      },
      log,
    );
    closers.push(() => jobs.close());
    if (isWarm) await jobs.warmUp();

    const queues = new Queues(store, { cacheBytes: config.queueCacheBytes, pullCost, lease: leaseOf(config, now, uptime) });
    const { sweep, swept, stop } = startSweeping(
      store,
      queues,
      config.retentionDays,
      log,
      new SlewedClock(now, uptime, store.meta.get('known')),
    );
    closers.push(stop);

    // A client that is refused stops for good: the token exists before the port does.
    if (config.bootstrapToken !== null) await ensureBootstrapToken(store, config.bootstrapToken, now(), log);
    const comparisons = new CompletenessChecker(jobs);
    const memory = new MemoryBudget(limits.requestMemoryBytes);
    const hasAdminPort = config.adminPort !== null;
    const readiness = new Readiness(store, now, uptime);
    const context: Context = {
      store,
      queues,
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
    const ownerOf = (token: string | null) => (token === null ? null : (findToken(store, token)?.project ?? null));
    const certificate = config.tlsCert === null || config.tlsKey === null ? null : { certFile: config.tlsCert, keyFile: config.tlsKey };
    const adapter = await chooseAdapter(config.httpServer);
    const httpOptions = {
      ...config,
      openAdapter: adapter.open,
      settingNames: 'BALLAST_PORT or BALLAST_HOST',
      certificate,
      bodySeconds: limits.bodySeconds,
      memory,
      ownerOf,
    };
    const observe: Observe = (path, status, seconds, unavailable) =>
      metrics.observeRequest(endpointOf(path) ?? 'unknown', status, seconds, unavailable);
    let adminUrl: string | null = null;
    if (config.adminPort !== null) {
      const options = {
        ...httpOptions,
        certificate: null,
        host: config.adminHost,
        port: config.adminPort,
        settingNames: 'BALLAST_ADMIN_PORT or BALLAST_ADMIN_HOST',
      };
      const admin = await listen(options, request => routeAdmin(context, request), log);
      adminUrl = admin.url;
      closers.push(() => admin.drain());
    }
    const http = await listen(httpOptions, request => route(context, request), log, observe);
    log.info(adapter.logLine);
    closers.push(() => {
      comparisons.close();
      return http.drain();
    });

    metrics.addSources({
      version,
      httpServer: adapter.name,
      connections: () => http.connections,
      requestsInFlight: () => http.requestsInFlight,
      reservedBytes: () => memory.reservedBytes,
      jobs: () => jobs.load,
      queues: () => queues.load(),
      store: () => loadOf(store, dataDir),
      sweeps: () => swept,
      certificateExpiresAt: () => http.certificateExpiresAt,
    });

    // Only now: a token that is made but never shown, because the port was taken, would be lost.
    const isFirstStart = store.projects.getKeysCount({ limit: 1 }) === 0;
    const firstToken = isFirstStart ? (await createProject(store, DEFAULT_PROJECT, now())).token : null;
    return { url: http.url, adminUrl, firstToken, sweep, renew: () => http.reloadCertificate(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function loadOf({ room, journal, builds, subsets, paths, splits, queues }: Store, dataDir: string): ReturnType<MetricSources['store']> {
  const records: Record<string, number> = {};
  for (const [kind, table] of Object.entries({ build: builds, subset: subsets, path: paths, split: splits, queue: queues })) {
    records[kind] = (table.getStats() as { entryCount: number }).entryCount;
  }
  return { bytes: statSync(join(dataDir, STORE_FILE)).size, diskFreeBytes: room.freeBytes(), journalTurns: journal.turns, records };
}

function leaseOf({ leaseFactor, leaseGraceSeconds }: Config, now: () => number, uptime: () => number): Lease | null {
  const start = uptime();
  const uptimeAt = (millis: number) => Math.max(start, uptime() - Math.max(0, now() - millis));
  return leaseFactor === 0 ? null : { factor: leaseFactor, graceMilliseconds: 1000 * leaseGraceSeconds, uptime, uptimeAt };
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
