import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Config, parseConfig } from '../../src/config.js';
import { openLog } from '../../src/log.js';
import { openService, type Service } from '../../src/service.js';
import { httpServer } from './http-server.js';

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ballast-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A clock that stands still until it is moved. */
export class Clock {
  constructor(public millis = Date.UTC(2026, 0, 1)) {}
  readonly now = () => this.millis;
  advance({ days = 0, seconds = 0, milliseconds = 0 }: { days?: number; seconds?: number; milliseconds?: number }) {
    this.millis += days * 86_400_000 + seconds * 1000 + milliseconds;
  }
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined when it is empty, or text. */
  json: any;
}

/** Talks to a server as one project's CI does. */
export class Client {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    return this.send(path, { method: 'POST', body: text as string, headers: { ...this.#headers(), ...headers } });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send(path, { headers: { ...this.#headers(), ...headers } });
  }

  async send(path: string, init: RequestInit): Promise<Reply> {
    const response = await fetch(`${this.url}${path}`, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text === '' || init.method === 'HEAD' || response.headers.get('content-type')?.startsWith('text/') ? undefined : JSON.parse(text),
    };
  }

  #headers(): Record<string, string> {
    return { 'Content-Type': 'application/json', 'SERVICE-TEST-SUITE-TOKEN': this.token };
  }
}

export interface TestServer extends Client {
  service: Service;
  dataDir: string;
  /** Lines of the log at level debug. */
  log: string[];
  close(): Promise<void>;
}

/** A server of this process on a free port and a folder of its own, closed after the test. */
export async function startServer(
  texts: { [K in keyof Config]?: string } = {},
  now = Date.now,
  uptime = () => performance.now(),
): Promise<TestServer> {
  const dataDir = texts.dataDir ?? temporaryFolder();
  const token = texts.bootstrapToken ?? 'a-token-for-tests-0123456789abcdef';
  const log: string[] = [];
  const config = parseConfig({ port: '0', httpServer, logLevel: 'debug', ...texts, dataDir, bootstrapToken: token });
  const service = await openService(config, openLog(config.logLevel, { write: line => log.push(line) }), { now, uptime, isWarm: false });
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= service.close());
  onTestFinished(close);
  return Object.assign(new Client(service.url, token), { service, dataDir, log, close });
}
