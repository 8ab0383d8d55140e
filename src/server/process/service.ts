import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { packageFolder, version } from '../../base/version.js';
import { limits } from '../../protocol/limits.js';
import { CompletenessChecker } from '../api/completeness-checker.js';
import type { Context, ProcessState } from '../api/context.js';
import { encodeStatus, ownStatus } from '../api/dashboard/process-status.js';
import { RefusedRequests, SeenClients } from '../api/dashboard/seen.js';
import { toApiError } from '../api/errors.js';
import { JobRunner } from '../api/job-runner.js';
import type { DashboardFiles } from '../api/static-file.js';
import { bodyLimitOf, endpointOf, route, routeAdmin } from '../api/table.js';
import { WhatIfPlayer } from '../api/what-if-player.js';
import { createProject, createToken, findToken, knownToken } from '../engine/access.js';
import { DailyBytes } from '../engine/daily-bytes.js';
import { memoryBounds } from '../engine/memory-bounds.js';
import { NodeNotes } from '../engine/node-notes.js';
import type { Access } from '../engine/ports/access.js';
import type { ScryptCost } from '../engine/ports/sign-ins.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { noteGivenKey } from '../engine/proof/receipt-keys.js';
import { PublicAllowance } from '../engine/public-side/allowance.js';
import { isPublicSide } from '../engine/public-side/side.js';
import type { LeasePolicy } from '../engine/queue/leases.js';
import { Refusal } from '../engine/refusal.js';
import { PASSWORD_COST, PasswordAttempts } from '../engine/sign-in/password.js';
import { SplitAsks } from '../engine/split-asks.js';
import { chooseAdapter } from '../http/choose-adapter.js';
import type { Observer } from '../http/exchange.js';
import { MemoryBudget } from '../http/in-flight.js';
import { listen } from '../http/server.js';
import { toWeight } from '../planning/weight.js';
import { serveStore, sourceOf } from '../store/source.js';
import { startThreads } from '../threads/threads.js';
import { newSignInUrl, noteAddress, reachableUrl, readDashboardFiles } from './dashboard.js';
import { startHeartbeat } from './heartbeat.js';
import { Metrics } from './metrics.js';
import { Readiness } from './readiness.js';
import { readReceiptKey } from './receipt-key-file.js';
import type { Config } from './settings.js';
import { type SnapshotDependencies, Snapshots } from './snapshots.js';
import { readClientFiles, readGuides } from './static-files.js';
import { Summarizer } from './summarizer.js';
import { SlewedClock, startSweeping } from './sweeping.js';
import { WebhookEvents } from './webhook-events.js';
import { postTest } from './webhook-request.js';
import { WebhookSender } from './webhook-sender.js';
import type { WorkerSetup } from './worker.js';

const DEFAULT_PROJECT = 'default';

export interface Service {
  url: string;
  /** The address of the admin port; null: there is none. */
  adminUrl: string | null;
  /** The HTTP server that answers, and the reason, if it is the slower one; else null. */
  slowerServer: string | null;
  /** The token of the project that the first start creates; null at every other start. */
  firstToken: string | null;
  /** The address that signs in to the dashboard, once; null at every start but the first, and without a dashboard. */
  firstLink: string | null;
  /** Deletes records older than the retention; resolves when none is left. */
  sweep(): Promise<void>;
  /** Makes a snapshot if one is due; resolves when none is being made. */
  snapshot(): Promise<void>;
  /** Writes the summaries of all builds that were recorded until now, and notes the events for webhooks in them. */
  summarize(): Promise<void>;
  /** Resolves when the addresses that nodes sent until now are noted. */
  nodesNoted(): Promise<void>;
  /** Reads the files of the certificate again. Rejects with a sentence when they are invalid. */
  renew(): Promise<void>;
  /** Answers the requests in flight, then closes everything in the reverse order of opening. */
  close(): Promise<void>;
}

export interface ServiceDependencies {
  /** By default the clock of the store. */
  now?: () => Millis;
  /** Milliseconds on a monotonic clock. */
  uptime?: () => number;
  /** False: no worker thread starts before the first large suite. */
  isEager?: boolean;
  /** Called when the disk fails a write of the store. The store is unreliable from then on, so the process must end. */
  storeFailed?: (error: Error) => void;
  /** Called when no worker thread can start. Large suites would wait for ever, so the process must end. */
  threadsFailed?: (error: Error) => void;
  openStore?: typeof serveStore;
  openThreads?: typeof startThreads;
  /** Reads the front end of the dashboard. */
  dashboardFiles?: () => DashboardFiles;
  /** Cost of checking a password when none is set. */
  passwordCost?: ScryptCost;
}

/** Opens the store, worker threads and HTTP, and starts the sweeps. */
export async function openService(
  config: Config,
  log: Logger,
  {
    now: givenNow,
    uptime = () => performance.now(),
    isEager = true,
    storeFailed = () => {},
    threadsFailed = () => {},
    openStore = serveStore,
    openThreads = startThreads,
    dashboardFiles = readDashboardFiles,
    passwordCost = PASSWORD_COST,
  }: ServiceDependencies = {},
): Promise<Service> {
  const { headerPrefixes, publicUrl, clientVersions } = config;
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const receiptKey = config.receiptKeyFile === null ? null : readReceiptKey(config.receiptKeyFile);
    const metrics = new Metrics();
    const pullCost = toWeight(config.pullCostSeconds);
    // Of the store, when it is open: nobody asks a queue before.
    let now = givenNow ?? Date.now;
    const queues = { pullCost, cacheBytes: config.queueCacheBytes, lease: leaseOf(config, () => now(), uptime) };
    const source = sourceOf(config);
    const committed = (seconds: number) => metrics.observeCommit(seconds);
    const statementEnded = (kind: string, seconds: number) => metrics.observeStatement(kind, seconds);
    const store = await openStore(source, log, { queues, storeFailed, committed, statementEnded, connections: config.databaseConnections });
    now = givenNow ?? store.now;
    closers.push(() => store.close());
    const snapshots = await openSnapshots(config, store, { log, now, uptime });
    if (snapshots) closers.push(() => snapshots.close());

    const tokenHeader = `${headerPrefixes[0]}-TEST-SUITE-TOKEN`;
    const setup: WorkerSetup = { source, tokenHeader, pullCost, memoryBytes: config.memoryBytes };
    const filename = new URL('dist/src/server/process/worker.js', packageFolder).href;
    const threads = openThreads({ filename, setup, most: config.workers, isEager }, log);
    threads.started.catch(threadsFailed);
    const jobs = new JobRunner(store, threads, config.workers, (job, waited, took) => metrics.observeJob(job, waited, took));
    closers.push(() => jobs.close());

    const clock = new SlewedClock(now, uptime, (await store.values.get('clock')) ?? undefined);
    const { sweep, swept, stop } = startSweeping(store, config.retentionDays, log, clock);
    closers.push(stop);

    // A client that is refused never retries, so the token must exist before the port opens.
    if (config.bootstrapToken !== null) await ensureBootstrapToken(store, config.bootstrapToken, now(), log);
    if (receiptKey !== null) await noteGivenKey(store.values, receiptKey);
    const completeness = new CompletenessChecker(jobs);
    const nodeNotes = new NodeNotes(store, (err: unknown) => log.warn({ err }, 'could not note what nodes told of themselves'));
    closers.push(() => nodeNotes.settled());
    const sender = new WebhookSender(store, log, now);
    closers.push(() => sender.close());
    const pagesUrl = config.dashboard === 'on' ? publicUrl : null;
    const webhookEvents = new WebhookEvents(store, jobs, log, now, pagesUrl, () => void sender.look());
    closers.push(() => webhookEvents.close());
    const summarizer = new Summarizer(store, jobs, log, now, uptime, webhookEvents);
    closers.push(() => summarizer.close());
    const noted = summarizer.noteNewest().catch((err: unknown) => log.warn({ err }, 'could not look for missing summaries'));
    const readiness = new Readiness(store.maintenance, now, uptime);
    const hasAdminPort = config.adminPort !== null;
    const dailyBytes = new DailyBytes(config.dailyBytesPerProject);
    const publicAllowance = new PublicAllowance();
    const context: Context = {
      store,
      dailyBytes,
      publicAllowance,
      splitAsks: new SplitAsks(),
      nodeNotes,
      jobs,
      completeness,
      summarizer,
      whatIfs: new WhatIfPlayer(jobs),
      readiness,
      metrics,
      hasAdminPort,
      pullCost,
      log,
      now,
      publicUrl,
      clientVersions,
      headerPrefixes,
      receiptKey,
      client: readClientFiles(),
      guides: readGuides(),
      tokenHeader,
      dashboard:
        config.dashboard === 'off'
          ? null
          : {
              files: dashboardFiles(),
              passwords: new PasswordAttempts(passwordCost),
              apiUrl: () => (config.dashboard === 'admin' ? reachableUrl(http.url) : null),
              status: () => status,
              testWebhook: (project, url) => postTest(project, url, now()),
            },
    };
    const memory = new MemoryBudget(memoryBounds.requests);
    const clients = new SeenClients();
    const refused = new RefusedRequests(token => knownToken(store.access, token)?.project ?? null);
    const observer: Observer = {
      ended({ path, clientName, clientVersion }, httpStatus, seconds, unavailable) {
        metrics.observeRequest(endpointOf(path) ?? 'unknown', httpStatus, seconds, unavailable);
        clients.count(clientName, clientVersion, now());
      },
      failed: (request, error) => refused.note(request, error, now()),
    };
    const { http, admin, adapter } = await openPorts(config, context, observer, memory, log);
    closers.push(() => admin?.drain() ?? Promise.resolve());
    closers.push(() => {
      completeness.close();
      return http.drain();
    });
    const stateNow = (): ProcessState => ({
      version,
      httpServer: adapter.name,
      connections: http.connections,
      requestsInFlight: http.requestsInFlight,
      reservedBytes: memory.reservedBytes,
      jobs: jobs.load,
      suites: jobs.suites.load,
      fullProjects: dailyBytes.fullProjects,
      queues: store.queues.load(),
      sweeps: swept,
      snapshots: snapshots?.load ?? null,
      summaries: summarizer,
      deliveries: { ...sender.results, dropped: webhookEvents.dropped },
      certificateExpiresAt: http.certificateExpiresAt,
    });
    metrics.addState(async () => ({ ...stateNow(), store: await store.maintenance.load() }));
    const ports = { url: http.url, adminUrl: admin?.url ?? null };
    const name = () => `${hostname()}${http.url.replace(/^.*(?=:\d+$)/, '')}`;
    const status = { name, stateNow, clients, refused, readiness, startedAt: now(), retentionDays: config.retentionDays, now };
    const { processes } = store.maintenance;
    if (processes) closers.push(startHeartbeat(processes, async () => encodeStatus(await ownStatus(null, status)), log));

    // Created last: if the port were taken, the token would be lost before it is shown.
    const isFirstStart = (await store.access.projects()).length === 0;
    const firstToken = isFirstStart ? await createDefaultProject(store.access, now()) : null;
    await noteProgram(store, log);
    const address = context.dashboard && (await noteAddress(config, ports, store, log));
    const firstLink = firstToken !== null && address !== null ? await newSignInUrl(store, address, now()) : null;
    const summarize = async () => {
      await noted;
      await summarizer.flush();
      await webhookEvents.settled();
    };
    const nodesNoted = () => nodeNotes.settled();
    const slowerServer = adapter.name === 'node' ? adapter.logLine : null;
    const renew = () => http.reloadCertificate();
    const snapshot = async () => snapshots?.makeIfDue();
    void snapshot();
    return { ...ports, slowerServer, firstToken, firstLink, sweep, snapshot, summarize, nodesNoted, renew, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Notes the version of this program, for an older one that cannot read the store. */
async function noteProgram({ values }: Store, log: Logger): Promise<void> {
  // A store that refuses writes is reported elsewhere.
  if ((await values.get('program')) !== version)
    await values.put('program', version).catch((err: unknown) => log.error({ err }, 'could not note the version of this program'));
}

/** Null: none are to be made. */
async function openSnapshots(
  { dataDir, snapshotEvery, snapshotDir, snapshotKeep }: Config,
  { values }: Store,
  dependencies: Omit<SnapshotDependencies, 'made'>,
): Promise<Snapshots | null> {
  if (snapshotEvery === null || snapshotDir === null) return null;
  const settings = { dataDir, folder: snapshotDir, everyMilliseconds: snapshotEvery, keep: snapshotKeep };
  return Snapshots.open(settings, { ...dependencies, made: at => values.put('backup', at) });
}

/** Listens for requests, and on the admin port if there is one. */
async function openPorts(config: Config, context: Context, observer: Observer, memory: MemoryBudget, log: Logger) {
  const { store } = context;
  const adapter = await chooseAdapter(config.httpServer);
  const options = {
    ...config,
    openAdapter: adapter.open,
    settingNames: 'BALLAST_PORT or BALLAST_HOST',
    certificate: config.tlsCert === null || config.tlsKey === null ? null : { certFile: config.tlsCert, keyFile: config.tlsKey },
    bodySeconds: limits.bodySeconds,
    bodyLimitOf,
    memory,
    ownerOf: (token: string | null) => (token === null ? null : memoryOwnerOf(store.access, token)),
    toApiError,
  };
  const withoutDashboard = { ...context, dashboard: null };
  const [onMainPort, onAdminPort] = config.dashboard === 'admin' ? [withoutDashboard, context] : [context, withoutDashboard];
  const adminOptions = { ...options, certificate: null, host: config.adminHost, settingNames: 'BALLAST_ADMIN_PORT or BALLAST_ADMIN_HOST' };
  const admin =
    config.adminPort === null
      ? null
      : await listen({ ...adminOptions, port: config.adminPort }, request => routeAdmin(onAdminPort, request), log);
  try {
    const http = await listen(options, request => route(onMainPort, request), log, observer);
    log.info(adapter.logLine);
    return { http, admin, adapter };
  } catch (error) {
    await admin?.drain();
    throw error;
  }
}

/** Creates the project of a first start. Returns its token; null: another process was faster. */
async function createDefaultProject(access: Access, at: Millis, token?: string): Promise<string | null> {
  try {
    return (await createProject(access, DEFAULT_PROJECT, at, token)).token;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/**
 * The project whose share of memory a request uses. Null, the share of unknown tokens, if the store would have to ask for the token. Anyone may
 * send a public token, so it adds nothing to that share: strangers have one half of the memory, not two.
 */
function memoryOwnerOf(access: Access, token: string): number | null {
  const project = knownToken(access, token)?.project ?? null;
  return project !== null && isPublicSide(project) ? null : project;
}

function leaseOf({ leaseSeconds, leaseFactor, leaseGraceSeconds }: Config, now: () => number, uptime: () => number): LeasePolicy | null {
  if (leaseSeconds === 0 && leaseFactor === 0) return null;
  const start = uptime();
  return {
    silenceMilliseconds: leaseSeconds === 0 ? Infinity : 1000 * leaseSeconds,
    factor: leaseFactor,
    graceMilliseconds: 1000 * leaseGraceSeconds,
    uptime,
    uptimeAt: millis => Math.max(start, uptime() - Math.max(0, now() - millis)),
  };
}

/** Ensures that the project "default" exists with this token. */
async function ensureBootstrapToken({ access }: Store, bootstrapToken: string, now: Millis, log: Logger): Promise<void> {
  const token = await findToken(access, bootstrapToken);
  if (token) {
    if (token.revoked_at !== null) log.warn('the token in BALLAST_BOOTSTRAP_TOKEN is revoked, and stays revoked');
    return;
  }
  if (!(await access.project(DEFAULT_PROJECT)) && (await createDefaultProject(access, now, bootstrapToken)) !== null) return;
  const project = await access.project(DEFAULT_PROJECT);
  await createToken(access, project!.id, now, { token: bootstrapToken });
}
