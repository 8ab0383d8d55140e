import { onTestFinished } from 'vitest';
import type { Handler } from '../../src/http/exchange.js';
import { HeldBytes } from '../../src/http/held-bytes.js';
import { type HttpOptions, type HttpServer, listen } from '../../src/http/server.js';
import { openLog } from '../../src/log.js';
import { openFront } from '../harness/http-server.js';
import { Client } from '../harness/server.js';

interface Listening extends Client {
  http: HttpServer;
  log: string[];
}

const TOKENS = ['a-token', 'another-token', 'a-third-token'];
/** Those that are not known are one. */
const holderOf = (token: string | null) => (token !== null && TOKENS.includes(token) ? TOKENS.indexOf(token) : null);

/** The socket layer alone, with a handler of the test. */
export async function listenWith(handler: Handler, options: Partial<HttpOptions> = {}): Promise<Listening> {
  const log: string[] = [];
  const sink = openLog('debug', { write: line => log.push(line) });
  const http = await listen(
    { openFront, host: '127.0.0.1', port: 0, settings: 'BALLAST_PORT or BALLAST_HOST', headerPrefixes: ['SERVICE'], maxBodyBytes: 1_000_000, bodySeconds: 5, held: new HeldBytes(100_000_000), holderOf, trustedProxies: null, certificate: null, ...options },
    handler,
    sink,
  );
  let drained: Promise<void> | null = null;
  const { drain } = http;
  http.drain = () => (drained ??= drain());
  onTestFinished(http.drain);
  return Object.assign(new Client(http.url, 'a-token'), { http, log });
}
