import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Handler } from '../../src/http/exchange.js';
import { MemoryBudget } from '../../src/http/memory-budget.js';
import { type HttpOptions, type HttpServer, listen } from '../../src/http/server.js';
import { type Config, parseConfig } from '../../src/server/config.js';
import { openLog } from '../../src/server/log.js';
import { openService, type Service, type ServiceDependencies } from '../../src/server/service.js';
import { openStore, type Store } from '../../src/store/lmdb/open.js';
import { createProject } from '../../src/store/lmdb/projects.js';
import { createToken } from '../../src/store/lmdb/tokens.js';
import { Client, TOKEN } from './client.js';
import { httpServer, openAdapter } from './http-server.js';
import { temporaryFolder } from './temporary-folder.js';

/** Servers in the process of the test. */

type Settings = { [K in keyof Config]?: string };

export interface TestServer extends Client {
  service: Service;
  dataDir: string;
  /** Lines of the log at level debug. */
  log: string[];
  close(): Promise<void>;
}

async function openServer(
  settings: Settings & { dataDir: string },
  dependencies: ServiceDependencies = {},
): Promise<{ service: Service; log: string[] }> {
  const log: string[] = [];
  const config = parseConfig({ port: '0', httpServer, logLevel: 'debug', bootstrapToken: TOKEN, ...settings });
  const service = await openService(config, openLog(config.logLevel, { write: line => log.push(line) }), {
    ...dependencies,
    isWarm: false,
  });
  return { service, log };
}

/** Starts a server on a free port, with a new folder. It is closed after the test. */
export async function startServer(settings: Settings = {}, now = Date.now, uptime = () => performance.now()): Promise<TestServer> {
  const dataDir = settings.dataDir ?? temporaryFolder();
  const { service, log } = await openServer({ ...settings, dataDir }, { now, uptime });
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= service.close());
  onTestFinished(close);
  return Object.assign(new Client(service.url, settings.bootstrapToken ?? TOKEN), { service, dataDir, log, close });
}

/** One server for all tests of a file, because starting a server takes longer than most tests. */
export class SharedServer extends Client {
  readonly dataDir = temporaryFolder(afterAll);
  #service: Service | null = null;
  #store: Store | null = null;
  #projects = 0;

  constructor(settings: Settings = {}) {
    super('', TOKEN);
    beforeAll(async () => {
      // Open the store before the service. lmdb's write thread may wait for this thread in a transaction, and opening a store waits for the write thread.
      this.#store = openStore(this.dataDir);
      ({ service: this.#service } = await openServer({ logLevel: 'silent', ...settings, dataDir: this.dataDir }));
      Object.assign(this, { url: this.#service.url });
    });
    // vitest calls these in reverse order, so the folder is removed last.
    afterAll(async () => {
      await this.#service?.close();
      await this.#store?.root.close();
    });
  }

  get store(): Store {
    return this.#store!;
  }

  /** Creates an empty project for a test that changes data. */
  async project(): Promise<Client> {
    const { id } = await createProject(this.store, `project ${++this.#projects}`, Date.now());
    return new Client(this.url, await createToken(this.store, id, Date.now()));
  }
}

export interface Listening extends Client {
  http: HttpServer;
  log: string[];
}

const TOKENS = ['a-token', 'another-token', 'a-third-token'];
/** All unknown tokens have one owner. */
const ownerOf = (token: string | null) => (token !== null && TOKENS.includes(token) ? TOKENS.indexOf(token) : null);

/** Starts the HTTP layer alone, with a handler of the test. */
export async function listenWith(handler: Handler, options: Partial<HttpOptions> = {}): Promise<Listening> {
  const log: string[] = [];
  const sink = openLog('debug', { write: line => log.push(line) });
  const http = await listen(
    {
      openAdapter,
      host: '127.0.0.1',
      port: 0,
      settings: 'BALLAST_PORT or BALLAST_HOST',
      headerPrefixes: ['SERVICE'],
      maxBodyBytes: 1_000_000,
      bodySeconds: 5,
      memory: new MemoryBudget(100_000_000),
      ownerOf,
      trustedProxies: null,
      certificate: null,
      ...options,
    },
    handler,
    sink,
  );
  let drained: Promise<void> | null = null;
  const { drain } = http;
  http.drain = () => (drained ??= drain());
  onTestFinished(http.drain);
  return Object.assign(new Client(http.url, 'a-token'), { http, log });
}
