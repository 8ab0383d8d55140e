import { type BlockList, isIPv6 } from 'node:net';
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { limits } from '../limits.js';
import type { Logger } from '../log.js';
import { Door, fileRoom } from './door.js';
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
  const { us_listen_socket_close: close } = uws;
  // A port that the system picked is listened on by its number: only then it can be listened on again while it has connections.
  const picked = options.port === 0 && listenOn(app, options.host, 0);
  const port = picked ? uws.us_socket_local_port(picked) : options.port;
  if (picked) close(picked);
  const door = new Door({ listen: () => listenOn(app, options.host, port), close, room: fileRoom() }, log);
  app.filter((_, change) => door.count(change));
  if (!door.socket) {
    throw new Error(
      `cannot listen on ${options.host} port ${options.port}: it is in use, not this machine's, or below 1024 without the right to it; ` +
        'choose another with BALLAST_PORT or BALLAST_HOST',
    );
  }
  return {
    port,
    url: `http://${isIPv6(options.host) ? `[${options.host}]` : options.host}:${port}`,
    async drain() {
      door.shut();
      await traffic.drain({ receiving: limits.drainReceivingSeconds, answering: limits.drainSeconds });
      app.close();
    },
  };
}

type Listen = (host: string, port: number, options: 1, listening: (socket: us_listen_socket | false) => void) => void;

/** LIBUS_LISTEN_EXCLUSIVE_PORT: a second listener would otherwise silently share the port. (This form is missing from the types.) */
function listenOn(app: TemplatedApp, host: string, port: number): us_listen_socket | false {
  let listening: us_listen_socket | false = false;
  (app.listen.bind(app) as unknown as Listen)(host, port, 1, socket => (listening = socket));
  return listening;
}
