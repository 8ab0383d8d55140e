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

/** A server on a free port and a folder of its own, closed after the test. */
export async function startServer(settings: Settings = {}, now = Date.now, uptime = () => performance.now()): Promise<TestServer> {
  const dataDir = settings.dataDir ?? temporaryFolder();
  const { service, log } = await openServer({ ...settings, dataDir }, { now, uptime });
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= service.close());
  onTestFinished(close);
  return Object.assign(new Client(service.url, settings.bootstrapToken ?? TOKEN), { service, dataDir, log, close });
}

/** One server for all tests of a file, as starting one takes longer than most tests. */
export class SharedServer extends Client {
  readonly dataDir = temporaryFolder(afterAll);
  #service: Service | null = null;
  #store: Store | null = null;
  #projects = 0;

  constructor(settings: Settings = {}) {
    super('', TOKEN);
    beforeAll(async () => {
      // Before the service: lmdb's write thread may wait for this thread within a transaction, and opening the store waits for that.
      this.#store = openStore(this.dataDir);
      ({ service: this.#service } = await openServer({ logLevel: 'silent', ...settings, dataDir: this.dataDir }));
      Object.assign(this, { url: this.#service.url });
    });
    // vitest calls these in the reverse order: the folder goes last.
    afterAll(async () => {
      await this.#service?.close();
      await this.#store?.root.close();
    });
  }

  get store(): Store {
    return this.#store!;
  }

  /** A project of its own for a test that changes something: nothing of the others is in it. */
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
/** Those that are not known are one. */
const ownerOf = (token: string | null) => (token !== null && TOKENS.includes(token) ? TOKENS.indexOf(token) : null);

/** The socket layer alone, with a handler of the test. */
export async function listenWith(handler: Handler, options: Partial<HttpOptions> = {}): Promise<Listening> {
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
      ownerOf,
      trustedProxies: null,
      certificate: null,
      ...options,
    },
    handler,
    sink,
  );
  let drained: Promise<void> | null = null;
  const drain = http.drain.bind(http);
  http.drain = () => (drained ??= drain());
  onTestFinished(http.drain);
  return Object.assign(new Client(http.url, 'a-token'), { http, log });
}
