import { chmodSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import { DAY_MILLISECONDS } from '../../base/time.js';
import type { HttpAdapter, Listener, OpenAdapter } from './adapter.js';
import { Outbox } from './answer.js';
import { CERTIFICATE_WARNING_DAYS, type Certificate, checkCertificate } from './certificate.js';
import { ConnectionLimiter, connectionCapacity } from './connection-limiter.js';
import { Exchange, type ExchangeOptions, type Handler, type Observer, type RequestOptions } from './exchange.js';
import { headerFields } from './head.js';
import { InFlight } from './in-flight.js';
import { LogThrottle } from './log-throttle.js';
import { lockUnixPath, unixPath } from './unix-path.js';

/** Time after SIGTERM for requests that are still being received, and for those being answered. */
export const DRAIN_RECEIVING_SECONDS = 2;
export const DRAIN_SECONDS = 10;

export interface HttpOptions extends RequestOptions {
  openAdapter: OpenAdapter;
  /** An address, a host name, or unix:PATH. */
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** The settings of host and port, for error messages. */
  settingNames: string;
  headerPrefixes: readonly string[];
  /** Null: no TLS. */
  certificate: Certificate | null;
}

export interface HttpServer {
  /** For example http://127.0.0.1:8080, or unix:/run/ballast/ballast.sock */
  readonly url: string;
  /** 0 for a Unix socket. */
  readonly port: number;
  /** In milliseconds since 1970; null without a certificate. */
  readonly certificateExpiresAt: number | null;
  readonly connections: number;
  readonly requestsInFlight: number;
  /** Reads the certificate's files again, for later connections. Rejects and changes nothing if they are invalid. */
  reloadCertificate(): Promise<void>;
  /** Stops listening, waits for the answers in flight, and closes all connections. */
  drain(): Promise<void>;
}

const NOBODY: Observer = { ended() {}, failed() {} };

/** Starts a server that answers each request with what the handler returns or throws. */
export async function listen(options: HttpOptions, handler: Handler, log: Logger, observer = NOBODY): Promise<HttpServer> {
  const { host, certificate } = options;
  const path = unixPath(host);
  const scheme = certificate ? 'https' : 'http';
  let certificateExpiresAt = certificate && checkCertificate(certificate);
  warnOfExpiry(certificateExpiresAt, log);
  const inFlight = new InFlight();
  const shared = { handler, scheme, inFlight, outbox: new Outbox(), causeThrottle: new LogThrottle(), log, observer } as const;
  const exchangeOptions: ExchangeOptions = { ...options, ...shared };
  const adapter = options.openAdapter({
    path,
    host,
    port: options.port,
    certificate,
    headerFields: headerFields(options.headerPrefixes),
    countConnection: change => limiter.count(change),
    startRequest: (head, writer) => new Exchange(head, writer, exchangeOptions),
    log,
  });
  const limiter = new ConnectionLimiter(() => listenOn(adapter, path), connectionCapacity(), log);
  const pathLock = path === null ? null : await lockUnixPath(path, options.settingNames);
  const listener = await limiter.open();
  if (!listener) {
    pathLock?.release();
    throw cannotListen(path, options);
  }
  const { port } = listener;
  return {
    url: path === null ? `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}` : host,
    port,
    get certificateExpiresAt() {
      return certificateExpiresAt;
    },
    get connections() {
      return limiter.connections;
    },
    get requestsInFlight() {
      return inFlight.count;
    },
    async reloadCertificate() {
      if (!certificate) {
        log.info('no certificate to reload: TLS is not configured');
        return;
      }
      const expiresAt = checkCertificate(certificate);
      const mustReopen = adapter.reloadCertificate();
      certificateExpiresAt = expiresAt;
      log.info({ ends: new Date(expiresAt).toISOString() }, 'certificate reloaded; open connections keep the old one');
      warnOfExpiry(expiresAt, log);
      if (mustReopen) await limiter.reopen();
    },
    async drain() {
      limiter.close();
      pathLock?.release();
      await inFlight.drain({ receiving: DRAIN_RECEIVING_SECONDS, answering: DRAIN_SECONDS });
      adapter.close();
    },
  };
}

async function listenOn(adapter: HttpAdapter, path: string | null): Promise<Listener | null> {
  const listener = await adapter.listen();
  if (!listener || path === null) return listener;
  try {
    // Everybody who can enter the folder may connect. By default only this user could, and no proxy of another user.
    chmodSync(path, 0o666);
    return listener;
  } catch {
    // The socket was removed in the meantime.
    listener.close();
    return null;
  }
}

function cannotListen(path: string | null, { host, port, settingNames }: HttpOptions): Error {
  const reason =
    path === null
      ? `on ${host} port ${port}: it is in use, it is not an address of this machine, or this user may not listen there (ports below 1024)`
      : `on ${path}: its folder must exist, and this user must be able to write to it`;
  return new Error(`cannot listen ${reason}; choose another with ${settingNames}`);
}

function warnOfExpiry(expiresAt: number | null, log: Logger): void {
  if (expiresAt === null || expiresAt - Date.now() > CERTIFICATE_WARNING_DAYS * DAY_MILLISECONDS) return;
  const ends = new Date(expiresAt).toISOString();
  const text =
    expiresAt < Date.now() ? 'the certificate has expired: clients refuse it' : 'the certificate expires soon: renew it, and send SIGHUP';
  log.warn({ ends }, text);
}
