import { chmodSync } from 'node:fs';
import { type BlockList, isIPv6 } from 'node:net';
import { limits } from '../limits.js';
import type { Logger } from '../server/log.js';
import type { OpenAdapter } from './adapter.js';
import { type Certificate, checkCertificate } from './certificate.js';
import { ConnectionLimiter, connectionCapacity } from './connection-limiter.js';
import { Exchange, type Handler, type Observe } from './exchange.js';
import { headerFields } from './head.js';
import { InFlight } from './in-flight.js';
import { LogThrottle } from './log-throttle.js';
import type { MemoryBudget, Owner } from './memory-budget.js';
import { lockUnixPath, unixPath } from './unix-path.js';

export interface HttpOptions {
  openAdapter: OpenAdapter;
  /** An address, a name, or unix:PATH. */
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** What host and port are set by. */
  settingNames: string;
  headerPrefixes: readonly string[];
  maxBodyBytes: number;
  bodySeconds: number;
  memory: MemoryBudget;
  /** Finds who sent a token. */
  ownerOf: (token: string | null) => Owner;
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
  readonly certificateExpiresAt: number | null;
  readonly connections: number;
  readonly requestsInFlight: number;
  /** Reads the files of the certificate again: for connections from now on. Rejects with a sentence, and changes nothing, when they are wrong. */
  reloadCertificate(): Promise<void>;
  /** Takes no new connection, lets answers in flight finish, closes the rest. */
  drain(): Promise<void>;
}

/** Listens, and answers every request with what the handler returns or throws. */
export async function listen(options: HttpOptions, handler: Handler, log: Logger, observe: Observe = () => {}): Promise<HttpServer> {
  const { openAdapter, host, certificate, settingNames: settings, memory, ownerOf, trustedProxies } = options;
  const path = unixPath(host);
  const scheme = certificate ? 'https' : 'http';
  let certificateEndsAt = certificate && checkCertificate(certificate);
  tellOfEnd(certificateEndsAt, log);
  const inFlight = new InFlight();
  const bodyLimits = { maxBytes: options.maxBodyBytes, seconds: options.bodySeconds };
  const exchangeOptions = {
    handler,
    bodyLimits,
    memory,
    ownerOf,
    trustedProxies,
    scheme,
    inFlight,
    failures: new LogThrottle(),
    log,
    observe,
  } as const;
  const adapter = openAdapter({
    path,
    host,
    port: options.port,
    certificate,
    headerFields: headerFields(options.headerPrefixes),
    countConnection: change => limiter.count(change),
    startRequest: (head, reply) => new Exchange(head, reply, exchangeOptions),
    log,
  });
  const listenNow = async () => {
    const listener = await adapter.listen();
    if (!listener || path === null) return listener;
    try {
      // Who may reach its folder may connect, as to a port: otherwise only this user could, and so no proxy.
      chmodSync(path, 0o666);
      return listener;
    } catch {
      // It was removed in this moment.
      listener.close();
      return null;
    }
  };
  const limiter = new ConnectionLimiter({ listen: listenNow, capacity: connectionCapacity() }, log);
  const taken = path === null ? null : await lockUnixPath(path, settings);
  const listener = await limiter.open();
  if (!listener) {
    taken?.release();
    throw new Error(
      path === null
        ? `cannot listen on ${host} port ${options.port}: it is in use, not this machine's, or this user has no right to it (ports below 1024); choose another with ${settings}`
        : `cannot listen on ${path}: its folder must be there, and this user may write to it; choose another with ${settings}`,
    );
  }
  const { port } = listener;
  return {
    port,
    url: path === null ? `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}` : host,
    get certificateExpiresAt() {
      return certificateEndsAt;
    },
    get connections() {
      return limiter.connections;
    },
    get requestsInFlight() {
      return inFlight.count;
    },
    async reloadCertificate() {
      if (!certificate) {
        log.info('there is no certificate to read again');
        return;
      }
      const endsAt = checkCertificate(certificate);
      const listensAnew = await adapter.reloadCertificate();
      if (inFlight.draining) return;
      certificateEndsAt = endsAt;
      log.info({ ends: new Date(endsAt).toISOString() }, 'new connections get the certificate that was read now');
      tellOfEnd(endsAt, log);
      // Those that are connected go on with what they began with.
      if (listensAnew) await limiter.reopen();
    },
    async drain() {
      limiter.close();
      taken?.release();
      await inFlight.drain({ receiving: limits.drainReceivingSeconds, answering: limits.drainSeconds });
      adapter.close();
    },
  };
}

function tellOfEnd(endsAt: number | null, log: Logger): void {
  if (endsAt === null || endsAt - Date.now() > limits.certificateWarningDays * 86_400_000) return;
  const ends = new Date(endsAt).toISOString();
  log.warn(
    { ends },
    endsAt < Date.now() ? 'the certificate has expired: clients refuse it' : 'the certificate expires soon: renew it, and send SIGHUP',
  );
}
