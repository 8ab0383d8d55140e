import { randomInt } from 'node:crypto';
import { cpSync } from 'node:fs';
import { afterAll, beforeAll, onTestFinished, test } from 'vitest';
import { toApiError } from '../../src/server/api/errors.js';
import { type JobSettings, perform } from '../../src/server/api/jobs.js';
import { createProject } from '../../src/server/engine/access.js';
import type { Store } from '../../src/server/engine/ports/store.js';
import type { Handler, Observer } from '../../src/server/http/exchange.js';
import { MemoryBudget } from '../../src/server/http/in-flight.js';
import { type HttpOptions, type HttpServer, listen } from '../../src/server/http/server.js';
import { openLog } from '../../src/server/process/log.js';
import { openService, type Service, type ServiceDependencies } from '../../src/server/process/service.js';
import { type Config, parseConfig } from '../../src/server/process/settings.js';
import { serveStore } from '../../src/server/store/source.js';
import type { Threads, ThreadsOptions } from '../../src/server/threads/threads.js';
import { Client, TOKEN } from './client.js';
import { httpServer, openAdapter } from './http-server.js';
import { copyDatabase, databaseFor, lentDatabase } from './postgresql-store.js';
import { startProxy } from './proxy.js';
import { memoryFolder, temporaryFolder } from './temporary-folder.js';

/** Servers in the process of the test. */

/** Number of servers of one database. A request goes to any of them. A server with an admin port is alone. 0: one serves a folder. */
const SERVERS = Number(process.env.BALLAST_TEST_SERVERS ?? 0);

/** True if servers of tests have their store in a folder, unless a test names a database. */
export const isOnDisk = SERVERS === 0;

/** Cost of a password in tests. */
export const CHEAP = { N: 2, r: 1, p: 1 };

type Settings = { [K in keyof Config]?: string };

export interface TestServer extends Client {
  service: Service;
  store: Store;
  dataDir: string;
  /** Lines of the log at level debug. */
  log: string[];
  close(): Promise<void>;
}

/** Opens a service over a folder, or, when the settings name none, over one in memory. It has worker threads if the settings name a number. */
async function openServer({ dataDir, ...settings }: Settings, dependencies: ServiceDependencies = {}) {
  const log: string[] = [];
  let remove = () => {};
  const database =
    isOnDisk || settings.databaseUrl !== undefined ? null : await (dataDir === undefined ? lentDatabase() : databaseFor(dataDir));
  const folder = dataDir ?? memoryFolder(end => (remove = end));
  const databaseUrl = settings.databaseUrl ?? database?.url;
  const place = databaseUrl === undefined ? { dataDir: folder } : { databaseUrl, databaseConnections: '4' };
  const config = parseConfig({ port: '0', httpServer, logLevel: 'debug', bootstrapToken: TOKEN, ...place, ...settings });
  const logger = openLog(config.logLevel, { write: line => log.push(line) });
  const open = async () => {
    let store: Store | null = null;
    const openStore: ServiceDependencies['openStore'] = async (...args) => (store = await serveStore(...args));
    const service = await openService(config, logger, {
      openStore,
      ...(settings.workers === undefined && { openThreads: ({ setup }: ThreadsOptions) => onThisThread(store!, setup as JobSettings) }),
      passwordCost: CHEAP,
      ...dependencies,
      isEager: false,
    });
    return { service, store: store as unknown as Store };
  };
  const first = await open();
  const services = [first.service];
  while (database && settings.adminPort === undefined && services.length < SERVERS) services.push((await open()).service);
  let url = first.service.url;
  let stopProxy = () => {};
  if (services.length > 1)
    url = await startProxy(
      () => services[randomInt(services.length)]!,
      end => (stopProxy = end),
    );
  const summarize = async () => void (await Promise.all(services.map(each => each.summarize())));
  const nodesNoted = async () => void (await Promise.all(services.map(each => each.nodesNoted())));
  const close = async () => {
    await Promise.all(services.map(each => each.close())).finally(remove);
    stopProxy();
    await database?.end();
  };
  return { service: { ...first.service, url, summarize, nodesNoted, close }, log, store: first.store, dataDir: folder };
}

/** Performs tasks on this thread: to start another takes longer than most tests. */
function onThisThread(store: Store, settings: JobSettings): Threads {
  return { run: task => perform(store, settings, task), count: 0, started: Promise.resolve(), close: async () => {} };
}

/** A server on a free port, closed after the test. */
export async function startServer(settings: Settings = {}, now = Date.now, uptime = () => performance.now()): Promise<TestServer> {
  const { service, log, store, dataDir } = await openServer(settings, { now, uptime });
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= service.close());
  onTestFinished(close);
  return Object.assign(new Client(service.url, settings.bootstrapToken ?? TOKEN), {
    service,
    store,
    dataDir,
    log,
    close,
  });
}

/** The same with a folder on disk, which is removed after the test. */
export function startServerOnDisk(settings: Settings = {}, now = Date.now, uptime = () => performance.now()): Promise<TestServer> {
  return startServer({ dataDir: temporaryFolder(), ...settings }, now, uptime);
}

/** Copies the store of a folder that no server has open. Returns the folder of the copy, which is removed after the test. */
export async function copiedStore(dataDir: string): Promise<string> {
  const copy = memoryFolder();
  if (isOnDisk) cpSync(dataDir, copy, { recursive: true });
  else await copyDatabase(dataDir, copy);
  return copy;
}

/** One server for all tests of a file, as starting one takes longer than most tests. */
export class SharedServer extends Client {
  #service: Service | null = null;
  #store: Store | null = null;
  #projects = 0;

  constructor(settings: Settings = {}, dependencies: ServiceDependencies = {}) {
    super('', TOKEN);
    beforeAll(async () => {
      const { service, store } = await openServer({ logLevel: 'silent', ...settings }, dependencies);
      this.#service = service;
      this.#store = store;
      Object.assign(this, { url: service.url });
    });
    afterAll(() => this.#service?.close());
  }

  get service(): Service {
    return this.#service!;
  }

  get store(): Store {
    return this.#store!;
  }

  /** Writes the summaries of all builds that were recorded until now. */
  summarize(): Promise<void> {
    return this.#service!.summarize();
  }

  /** Creates an empty project for a test that changes data. */
  async project(): Promise<ProjectClient> {
    const { id, token } = await createProject(this.store.access, `project ${++this.#projects}`, Date.now());
    return Object.assign(new Client(this.url, token), { id });
  }
}

/** A client of a project, which has this id in the store. */
export interface ProjectClient extends Client {
  id: number;
}

/** Tests that may ask for `server`: the shared one, with an empty project for each test. */
export const testsWith = (shared: SharedServer) => test.extend('server', () => shared.project());

export interface Listening extends Client {
  http: HttpServer;
  log: string[];
}

const TOKENS = ['a-token', 'another-token', 'a-third-token'];
/** All unknown tokens have one owner. */
const ownerOf = (token: string | null) => (token !== null && TOKENS.includes(token) ? TOKENS.indexOf(token) : null);

/** Starts the HTTP layer alone, with a handler of the test. */
export async function listenWith(handler: Handler, options: Partial<HttpOptions> = {}, observer?: Observer): Promise<Listening> {
  const log: string[] = [];
  const sink = openLog('debug', { write: line => log.push(line) });
  const http = await listen(
    {
      openAdapter,
      host: '127.0.0.1',
      port: 0,
      settingNames: 'BALLAST_PORT or BALLAST_HOST',
      headerPrefixes: ['SERVICE'],
      maxBodyBytes: 1_000_000,
      bodySeconds: 5,
      memory: new MemoryBudget(100_000_000),
      bodyLimitOf: () => Infinity,
      ownerOf,
      trustedProxies: null,
      certificate: null,
      toApiError,
      ...options,
    },
    handler,
    sink,
    observer,
  );
  let drained: Promise<void> | null = null;
  const drain = http.drain.bind(http);
  http.drain = () => (drained ??= drain());
  onTestFinished(http.drain);
  return Object.assign(new Client(http.url, 'a-token'), { http, log });
}
