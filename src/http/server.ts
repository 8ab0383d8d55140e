import { type BlockList, isIPv6 } from 'node:net';
import type { us_listen_socket } from 'uWebSockets.js';
import { limits } from '../limits.js';
import type { Logger } from '../log.js';
import { Exchange, type Handler, type Observe } from './exchange.js';
import { headerFields } from './head.js';
import type { HeldBytes, Holder } from './held-bytes.js';
import { Traffic } from './traffic.js';

export interface HttpOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  headerPrefixes: readonly string[];
  maxBodyBytes: number;
  bodySeconds: number;
  held: HeldBytes;
  /** Finds who sent a token. */
  holderOf: (token: string | null) => Holder;
  proxies: BlockList | null;
}

type Listening = (socket: us_listen_socket | false) => void;

export interface HttpServer {
  /** For example http://127.0.0.1:8080 */
  url: string;
  port: number;
  /** Takes no new connection, lets answers in flight finish, closes the rest. */
  drain(): Promise<void>;
}

// Read by uWebSockets.js when it is loaded.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(limits.headBytes);

/** Listens, and answers every request with what the handler returns or throws. */
export async function listen(options: HttpOptions, handler: Handler, log: Logger, observe: Observe = () => {}): Promise<HttpServer> {
  const uws = await import('uWebSockets.js').catch((error: unknown) => {
    throw new Error(
      `Node ${process.version} on ${process.platform}-${process.arch} has no uWebSockets.js binary in this package: ` +
        'run Ballast with Node 20 or 22 on Linux (glibc) or macOS, ' +
        `or install the upstream uWebSockets.js package from its Git repository (${String(error).split('\n')[0]})`,
    );
  });
  const fields = headerFields(options.headerPrefixes);
  const bodyLimits = { maxBytes: options.maxBodyBytes, seconds: options.bodySeconds };
  const traffic = new Traffic();
  const exchangeOptions = { handler, fields, bodyLimits, held: options.held, holderOf: options.holderOf, proxies: options.proxies, traffic, log, observe };
  const app = uws.App().any('/*', (res, req) => void new Exchange(res, req, exchangeOptions));
  // LIBUS_LISTEN_EXCLUSIVE_PORT: a second listener would otherwise silently share the port. (This form is
  // missing from the types.)
  const listenOn = app.listen.bind(app) as unknown as (host: string, port: number, options: 1, listening: Listening) => void;
  const socket = await new Promise<us_listen_socket | false>(resolve => {
    listenOn(options.host, options.port, 1, resolve);
  });
  if (!socket) {
    throw new Error(
      `cannot listen on ${options.host} port ${options.port}: it is in use, not this machine's, or below 1024 without the right to it; ` +
        'choose another with BALLAST_PORT or BALLAST_HOST',
    );
  }
  const port = uws.us_socket_local_port(socket);
  return {
    port,
    url: `http://${isIPv6(options.host) ? `[${options.host}]` : options.host}:${port}`,
    async drain() {
      uws.us_listen_socket_close(socket);
      await traffic.drain({ receiving: limits.drainReceivingSeconds, answering: limits.drainSeconds });
      app.close();
    },
  };
}
