import { chmodSync } from 'node:fs';
import { type BlockList, isIPv6 } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { limits } from '../limits.js';
import type { Logger } from '../log.js';
import { Seldom } from '../seldom.js';
import { type Certificate, checkCertificate } from './certificate.js';
import { Door, fileRoom } from './door.js';
import { Exchange, type Handler, type Observe } from './exchange.js';
import { headerFields } from './head.js';
import type { HeldBytes, Holder } from './held-bytes.js';
import { Traffic } from './traffic.js';
import { takeUnixPath, unixPath } from './unix-path.js';

export interface HttpOptions {
  /** An address, a name, or unix:PATH. */
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** What host and port are set by. */
  settings: string;
  headerPrefixes: readonly string[];
  maxBodyBytes: number;
  bodySeconds: number;
  held: HeldBytes;
  /** Finds who sent a token. */
  holderOf: (token: string | null) => Holder;
  trustedProxies: BlockList | null;
  /** Null: no TLS. */
  certificate: Certificate | null;
}

export interface HttpServer {
  /** For example http://127.0.0.1:8080, or unix:/run/ballast/ballast.sock */
  url: string;
  /** 0 where there is none. */
  port: number;
  /** When the certificate ends, in milliseconds since 1970; null: there is none. */
  readonly certificateEndsAt: number | null;
  readonly connections: number;
  readonly requestsInFlight: number;
  /** Reads the files of the certificate again: for connections from now on. Rejects with a sentence, and changes nothing, when they are wrong. */
  renew(): Promise<void>;
  /** Takes no new connection, lets answers in flight finish, closes the rest. */
  drain(): Promise<void>;
}

// Read by uWebSockets.js when it is loaded.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(limits.headBytes);

/** Listens, and answers every request with what the handler returns or throws. */
export async function listen(options: HttpOptions, handler: Handler, log: Logger, observe: Observe = () => {}): Promise<HttpServer> {
  const uws = await import('uWebSockets.js').catch((error: unknown) => {
    throw new Error(
      `cannot listen: Node ${process.version} on ${process.platform}-${process.arch} has no uWebSockets.js binary in this package: ` +
        'run Ballast with Node 20 or 22 on Linux (glibc) or macOS, ' +
        `or install the upstream uWebSockets.js package from its Git repository (${String(error).split('\n')[0]})`,
    );
  });
  const fields = headerFields(options.headerPrefixes);
  const bodyLimits = { maxBytes: options.maxBodyBytes, seconds: options.bodySeconds };
  const traffic = new Traffic();
  const exchangeOptions = { handler, fields, bodyLimits, held: options.held, holderOf: options.holderOf, trustedProxies: options.trustedProxies, scheme: options.certificate ? ('https' as const) : ('http' as const), traffic, failures: new Seldom(), log, observe };
  const { host, certificate, settings } = options;
  const path = unixPath(host);
  let certificateEndsAt = certificate && checkCertificate(certificate);
  tellOfEnd(certificateEndsAt, log);
  const newApp = () => {
    const app = certificate ? uws.SSLApp({ cert_file_name: certificate.certFile, key_file_name: certificate.keyFile }) : uws.App();
    return app.any('/*', (res, req) => void new Exchange(res, req, exchangeOptions));
  };
  const apps = [newApp()];
  const taken = path === null ? null : await takeUnixPath(path, settings);
  const listenWith = (app: TemplatedApp) => () => (path === null ? listenOn(app, host, port) : listenOnPath(app, path));
  const { us_listen_socket_close: close } = uws;
  // A port that the system picked is listened on by its number: only then it can be listened on again while it has connections.
  const picked = path === null && options.port === 0 && listenOn(apps[0]!, host, 0);
  const port = picked ? uws.us_socket_local_port(picked) : path === null ? options.port : 0;
  if (picked) close(picked);
  const door = new Door({ listen: listenWith(apps[0]!), close, room: fileRoom() }, log);
  apps[0]!.filter((_, change) => door.count(change));
  if (!door.socket) {
    taken?.release();
    throw new Error(
      path === null
        ? `cannot listen on ${host} port ${options.port}: it is in use, not this machine's, or this user has no right to it (ports below 1024); choose another with ${settings}`
        : `cannot listen on ${path}: its folder must be there, and this user may write to it; choose another with ${settings}`,
    );
  }
  const scheme = certificate ? 'https' : 'http';
  return {
    port,
    url: path === null ? `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}` : host,
    get certificateEndsAt() {
      return certificateEndsAt;
    },
    get connections() {
      return door.connections;
    },
    get requestsInFlight() {
      return traffic.inFlight;
    },
    async renew() {
      if (!certificate) {
        log.info('there is no certificate to read again');
        return;
      }
      const endsAt = checkCertificate(certificate);
      const app = newApp();
      await quietTurn();
      if (traffic.draining) return;
      certificateEndsAt = endsAt;
      log.info({ ends: new Date(endsAt).toISOString() }, 'new connections get the certificate that was read now');
      tellOfEnd(endsAt, log);
      apps.push(app);
      app.filter((_, change) => door.count(change));
      // Those that are connected go on with what they began with.
      door.relisten(listenWith(app));
    },
    async drain() {
      door.shut();
      taken?.release();
      await traffic.drain({ receiving: limits.drainReceivingSeconds, answering: limits.drainSeconds });
      for (const app of apps) app.close();
    },
  };
}

function tellOfEnd(endsAt: number | null, log: Logger): void {
  if (endsAt === null || endsAt - Date.now() > limits.certificateDays * 86_400_000) return;
  const ends = new Date(endsAt).toISOString();
  log.warn({ ends }, endsAt < Date.now() ? 'the certificate has expired: clients refuse it' : 'the certificate expires soon: renew it, and send SIGHUP');
}

/** To close a listener refuses whoever waits to be accepted: a short turn of the event loop leaves hardly any. */
async function quietTurn(): Promise<void> {
  await nextTurn();
  for (let turns = 0, begun = -Infinity; turns < limits.quietTurns && performance.now() - begun > limits.quietTurnMilliseconds; turns++) {
    begun = performance.now();
    await nextTurn();
  }
}

type ListenOnPath = (listening: (socket: us_listen_socket | false) => void, path: string) => void;

function listenOnPath(app: TemplatedApp, path: string): us_listen_socket | false {
  let listening: us_listen_socket | false = false;
  (app as unknown as { listen_unix: ListenOnPath }).listen_unix(socket => (listening = socket), path);
  // Who may reach its folder may connect, as to a port: the HTTP library leaves it to this user alone, and so to no proxy.
  if (listening) chmodSync(path, 0o666);
  return listening;
}

type Listen = (host: string, port: number, options: 1, listening: (socket: us_listen_socket | false) => void) => void;

/** LIBUS_LISTEN_EXCLUSIVE_PORT: a second listener would otherwise silently share the port. (This form is missing from the types.) */
function listenOn(app: TemplatedApp, host: string, port: number): us_listen_socket | false {
  let listening: us_listen_socket | false = false;
  (app.listen.bind(app) as unknown as Listen)(host, port, 1, socket => (listening = socket));
  return listening;
}
