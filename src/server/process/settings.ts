import { availableParallelism } from 'node:os';
// Only this function of semver, because every command of a CI node loads this file.
import coerce from 'semver/functions/coerce.js';
import { UsageError } from '../../base/usage-error.js';
import { boundsFor, DEFAULT_MEMORY_BYTES, LEAST_MEMORY_BYTES } from '../engine/memory-bounds.js';
import type { HttpServerName } from '../http/choose-adapter.js';
import { parseTrustedProxies } from '../http/forwarded.js';

interface Definition<T> {
  /** Placeholder of the value in the help of the flag; null: there is no flag, for secrets, which a process list must not show, and their companions. */
  value: string | null;
  defaultText?: string;
  help: string;
  /** Returns the value, or throws the rest of the sentence "<name> is <text>: it ...". */
  parse(text: string): T;
}

/** A setting, with the names of its flag and its variable, which follow from its name in the code. */
export interface Setting<T = unknown> extends Definition<T> {
  flag: string | null;
  env: string;
  defaultText: string;
}

const wholeNumber = (min: number, max: number) => (text: string) => {
  if (text.startsWith('tcp://'))
    throw new Error(
      'must be a number; Kubernetes sets this variable for a service named "ballast": rename the service, or set enableServiceLinks: false in the pod',
    );
  const value = numberOf(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`must be a whole number from ${min} to ${max}`);
};

/** NaN: the text is empty or no number. */
const numberOf = (text: string) => (text.trim() === '' ? NaN : Number(text));

const oneOf =
  <T extends string>(...values: T[]) =>
  (text: string): T => {
    if ((values as string[]).includes(text)) return text as T;
    throw new Error(`must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`);
  };

/** Parses a setting that may be left out. */
const optional =
  <T, Missing>(parse: (text: string) => T, missing: Missing) =>
  (text: string): T | Missing =>
    text === '' ? missing : parse(text);

const same = (text: string) => text;

const host = (text: string) => {
  if (!/^((?!unix:)[A-Za-z0-9.:-]+|\[[0-9A-Fa-f.:]+\]|unix:\/.{1,99})$/.test(text)) {
    throw new Error('must be an address, a host name, or unix: and an absolute path of at most 100 characters');
  }
  // An IPv6 address may have brackets, as in a URL.
  return text.replace(/^\[(.*)\]$/, '$1');
};

const MIB = 1_048_576;

const UNIT_MILLISECONDS = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const LEAST_SNAPSHOT_MINUTES = 10;
const MOST_SNAPSHOT_DAYS = 30;

/** Parses a duration such as 6h. Returns milliseconds. */
const snapshotInterval = (text: string) => {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const value = Number(number) * UNIT_MILLISECONDS[unit as 'm'];
  if (value >= LEAST_SNAPSHOT_MINUTES * UNIT_MILLISECONDS.m && value <= MOST_SNAPSHOT_DAYS * UNIT_MILLISECONDS.d) return value;
  throw new Error(
    `must be a whole number of minutes, hours or days such as 90m, 6h or 1d, from ${LEAST_SNAPSHOT_MINUTES}m to ${MOST_SNAPSHOT_DAYS}d`,
  );
};

const definitions = {
  host: {
    value: '<address>',
    defaultText: '127.0.0.1',
    help: 'address or host name to listen on; 0.0.0.0 or :: for all addresses (use TLS or a proxy); or unix:/run/ballast/ballast.sock',
    parse: host,
  },
  port: {
    value: '<number>',
    defaultText: '8080',
    help: 'port to listen on; 0 picks a free port and prints it',
    parse: wholeNumber(0, 65_535),
  },
  /** Null: there is no admin port. */
  adminPort: {
    value: '<number>',
    help: 'port for /metrics, /healthz and /readyz; /metrics is then served only there; 0 picks a free port and prints it',
    parse: optional(wholeNumber(0, 65_535), null),
  },
  adminHost: {
    value: '<address>',
    defaultText: '127.0.0.1',
    help: 'address of the admin port, or unix:<path>, which needs no port',
    parse: host,
  },
  dashboard: {
    value: '<where>',
    defaultText: 'on',
    help: 'dashboard: on, off, or admin (only on the admin port)',
    parse: oneOf('on', 'off', 'admin'),
  },
  httpServer: {
    value: '<name>',
    defaultText: 'auto',
    help: 'HTTP server: uwebsockets (fast), node (runs everywhere), or auto (uwebsockets if it has a binary for this machine, else node)',
    parse: oneOf<HttpServerName>('auto', 'uwebsockets', 'node'),
  },
  dataDir: {
    value: '<folder>',
    defaultText: './data',
    help: 'folder of the store',
    parse: (text: string) => {
      if (text === '') throw new Error('must name a folder');
      return text;
    },
  },
  /** Null: the store is in the folder. */
  databaseUrl: {
    value: null,
    help: 'PostgreSQL database that holds the store instead of a folder, as postgres://user@host,host/database',
    parse: optional((text: string) => {
      // The message must not repeat the value, which may have a password.
      if (!/^postgres(ql)?:\/\/[^/?]+\/[^/?]+/.test(text)) throw new Error('must be like postgres://ballast@db.example.com/ballast');
      return text;
    }, null),
  },
  /** Null: the URL has the password, or there is none. */
  databasePasswordFile: {
    value: null,
    help: 'file with the password for the database, read for each connection',
    parse: optional(same, null),
  },
  /** Null: those that Node trusts. */
  databaseCa: {
    value: null,
    help: 'PEM file of the authority that signed the certificate of the database',
    parse: optional(same, null),
  },
  databaseConnections: {
    value: null,
    defaultText: '8',
    help: 'the most connections to the database; each worker thread has one more',
    parse: wholeNumber(3, 1000),
  },
  /** Upper case, without the trailing dash. Messages name the first. */
  headerPrefixes: {
    value: '<list>',
    defaultText: 'SERVICE,KNAPSACK-PRO',
    help: 'prefixes of request headers such as <prefix>-TEST-SUITE-TOKEN',
    parse: (text: string) => {
      const prefixes = text.split(',').map(prefix => prefix.trim().toUpperCase());
      if (!prefixes.every(prefix => /^[A-Z0-9]+(-[A-Z0-9]+)*$/.test(prefix))) {
        throw new Error('must be a comma-separated list of header prefixes such as SERVICE,KNAPSACK-PRO');
      }
      return prefixes;
    },
  },
  /** Without a trailing slash; null: from the Host header. */
  publicUrl: {
    value: '<url>',
    help: 'address of this server in links (default: from the Host header of the request)',
    parse: optional((text: string) => {
      const url = URL.canParse(text) ? new URL(text) : null;
      if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
        throw new Error('must be an address such as https://ballast.example.com');
      }
      return url.href.replace(/\/+$/, '');
    }, null),
  },
  /** PEM files; null: plain HTTP. */
  tlsCert: { value: '<file>', help: 'PEM file with the TLS certificate and its chain; SIGHUP reads it again', parse: optional(same, null) },
  tlsKey: { value: '<file>', help: 'PEM file with the key of the certificate, without a passphrase', parse: optional(same, null) },
  /** Null: the store has the key. */
  receiptKeyFile: {
    value: null,
    help: 'PEM file with the private key of Ed25519 that signs receipts, without a passphrase',
    parse: optional(same, null),
  },
  /** Null: none. */
  trustedProxies: {
    value: '<list>',
    help: 'proxies whose X-Forwarded-Proto, -Host and -For are used, in links and to slow down failed sign-ins, as addresses and ranges (10.0.0.0/8,::1)',
    parse: parseTrustedProxies,
  },
  retentionDays: { value: '<days>', defaultText: '90', help: 'days after which records are deleted', parse: wholeNumber(1, 36_500) },
  /** Milliseconds; null: the server makes none. */
  snapshotEvery: {
    value: '<duration>',
    help: 'time between two snapshots of the store, such as 6h; none without it',
    parse: optional(snapshotInterval, null),
  },
  /** Null if the server makes none. */
  snapshotDir: {
    value: '<folder>',
    help: 'folder for the snapshots, which must exist, best on another disk than that of the store',
    parse: optional(same, null),
  },
  snapshotKeep: { value: '<number>', defaultText: '7', help: 'number of newest snapshots that are kept', parse: wholeNumber(1, 10_000) },
  pullCostSeconds: {
    value: '<seconds>',
    defaultText: '2',
    help: 'seconds that a node loses between two batches, for the request and the start of the test runner',
    parse: (text: string) => {
      const value = numberOf(text);
      if (value >= 0.01 && value <= 600) return value;
      throw new Error('must be a number from 0.01 to 600');
    },
  },
  leaseSeconds: {
    value: '<seconds>',
    defaultText: '90',
    help: 'reassign the batch of a node that sends heartbeats when it is silent for this long; 0: never',
    parse: (text: string) => {
      const value = numberOf(text);
      // Clients send one every 15 seconds, and some get lost.
      if (value === 0 || (Number.isInteger(value) && value >= 45 && value <= 86_400)) return value;
      throw new Error('must be 0 or a whole number from 45 to 86400');
    },
  },
  leaseFactor: {
    value: '<number>',
    defaultText: '0',
    help: 'reassign the batch of any other node (at most once) when it is silent for this multiple of the expected duration of the batch; 0: never',
    parse: (text: string) => {
      const value = numberOf(text);
      if (value === 0 || (value >= 1 && value <= 1000)) return value;
      throw new Error('must be 0 or a number from 1 to 1000');
    },
  },
  leaseGraceSeconds: {
    value: '<seconds>',
    defaultText: '300',
    help: 'extra seconds of silence allowed to such a node',
    parse: wholeNumber(0, 86_400),
  },
  /** See memory-bounds.ts. */
  memoryBytes: {
    value: '<bytes>',
    defaultText: String(DEFAULT_MEMORY_BYTES),
    help: 'memory of the process in bytes, of which its caches and buffers have parts',
    parse: wholeNumber(LEAST_MEMORY_BYTES, 1024 * 1024 * MIB),
  },
  maxBodyBytes: {
    value: '<bytes>',
    defaultText: String(32 * MIB),
    help: 'largest request body in bytes; larger ones get status 413',
    parse: wholeNumber(1024, 1024 * MIB),
  },
  dailyBytesPerProject: {
    value: '<bytes>',
    defaultText: String(50 * 1024 * MIB),
    help: 'bytes that a project may store in a day; beyond it recordings and new queues and splits get status 507; 0: any number',
    parse: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  },
  queueCacheBytes: {
    value: '<bytes>',
    help: 'memory for open queues in bytes, without it a part of the memory; other queues are read from the store when needed',
    parse: optional(wholeNumber(MIB, 1024 * 1024 * MIB), 0),
  },
  workers: {
    value: '<threads>',
    defaultText: String(Math.min(4, Math.max(2, availableParallelism() - 1))),
    help: 'number of threads that plan suites of 1,000 files or more',
    parse: wholeNumber(1, 64),
  },
  /** By client name. */
  clientVersions: {
    value: '<list>',
    help: 'newest client versions as name=version,...; older clients are asked to update',
    parse: (text: string) => {
      const versions = new Map<string, string>();
      for (const entry of text.split(',').filter(part => part.trim() !== '')) {
        const [, name, version] = /^\s*(.+)=\s*([^=]+?)\s*$/.exec(entry) ?? [];
        if (!name || !version || !coerce(version)) {
          throw new Error('must be a list such as knapsack_pro=7.14.0,@knapsack-pro/jest=9.0.0');
        }
        versions.set(name.trim(), version);
      }
      return versions;
    },
  },
  logLevel: {
    value: '<level>',
    defaultText: 'info',
    help: 'fatal, error, warn, info, debug (one line per request), trace or silent',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  bootstrapToken: {
    value: null,
    help: 'token of the project "default", which is created if it does not exist',
    parse: optional((text: string) => {
      // The message must not repeat the value, which is a secret.
      if (!/^[\x21-\x7e]{32,256}$/.test(text)) throw new Error('must be 32 to 256 printable characters without spaces');
      return text;
    }, null),
  },
} satisfies Record<string, Definition<unknown>>;

/** The checked settings of `serve`. Modules read settings from here, never from the environment. */
export type Config = { [K in keyof typeof definitions]: ReturnType<(typeof definitions)[K]['parse']> };

export const settings = Object.fromEntries(
  Object.entries<Definition<unknown>>(definitions).map(([name, { value, defaultText = '', ...setting }]) => {
    const words = name.replace(/[A-Z]/g, letter => `-${letter}`);
    const flag = value && `--${words.toLowerCase()} ${value}`;
    return [name, { ...setting, value, defaultText, flag, env: `BALLAST_${words.toUpperCase().replaceAll('-', '_')}` }];
  }),
) as { [K in keyof Config]: Setting<Config[K]> };

/** Parses the given texts, by setting, with defaults for missing ones. Throws a UsageError with a sentence for each invalid setting. */
export function parseConfig(texts: { [K in keyof Config]?: string | undefined }): Config {
  const complaints: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const text = texts[name as keyof Config] ?? setting.defaultText;
    try {
      config[name] = setting.parse(text);
    } catch (error) {
      const names = setting.flag ? `${setting.env} (${setting.flag.split(' ')[0]}) is "${text}"` : setting.env;
      complaints.push(`${names}: it ${(error as Error).message}`);
    }
  }
  if ((config.tlsCert === null) !== (config.tlsKey === null))
    complaints.push('BALLAST_TLS_CERT (--tls-cert) and BALLAST_TLS_KEY (--tls-key): give both or neither');
  if (texts.adminHost !== undefined && config.adminPort === null) {
    // A Unix socket has no port.
    if (texts.adminHost.startsWith('unix:')) config.adminPort = 0;
    else
      complaints.push(
        'BALLAST_ADMIN_HOST (--admin-host) is given without BALLAST_ADMIN_PORT (--admin-port): give both; port 0 picks a free one',
      );
  }
  if (config.dashboard === 'admin' && config.adminPort === null)
    complaints.push('BALLAST_DASHBOARD (--dashboard) is "admin": give BALLAST_ADMIN_PORT (--admin-port), which then serves it');
  if (config.databaseUrl !== null && texts.dataDir !== undefined)
    complaints.push('BALLAST_DATABASE_URL and BALLAST_DATA_DIR (--data-dir) are both given: the store is in one place, so leave one out');
  if (texts.snapshotEvery || texts.snapshotDir) {
    const given = `BALLAST_SNAPSHOT_${texts.snapshotEvery ? 'EVERY (--snapshot-every)' : 'DIR (--snapshot-dir)'} is given`;
    if (config.databaseUrl !== null)
      complaints.push(
        `${given} with BALLAST_DATABASE_URL: snapshots are of a folder; back up the database with its own tools, such as pg_dump`,
      );
    else if (!texts.snapshotDir)
      complaints.push(`${given} without BALLAST_SNAPSHOT_DIR (--snapshot-dir): name a folder, best on another disk than that of the store`);
    else if (!texts.snapshotEvery) complaints.push(`${given} without BALLAST_SNAPSHOT_EVERY (--snapshot-every): say how often, such as 6h`);
  }
  const bounds = boundsFor(config.memoryBytes as number);
  config.queueCacheBytes ||= bounds.queues;
  // A token may use half of what requests have: two bodies of the largest size.
  const mostBodyBytes = Math.floor(bounds.requests / 4);
  if (texts.maxBodyBytes === undefined) config.maxBodyBytes = Math.min(config.maxBodyBytes as number, mostBodyBytes);
  else if ((config.maxBodyBytes as number) > mostBodyBytes)
    complaints.push(
      `BALLAST_MAX_BODY_BYTES (--max-body-bytes) is "${texts.maxBodyBytes}": with this BALLAST_MEMORY_BYTES (--memory-bytes) it must be at most ${mostBodyBytes}`,
    );
  if (complaints.length > 0) throw new UsageError(complaints);
  return config as unknown as Config;
}
