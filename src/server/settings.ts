import { availableParallelism } from 'node:os';
// Only this function of semver, because every command of a CI node loads this file.
import coerce from 'semver/functions/coerce.js';
import { parseTrustedProxies } from '../http/forwarded.js';
import { DEFAULT_MEMORY_BYTES, LEAST_MEMORY_BYTES } from '../memory-bounds.js';
import type { Config } from './config.js';

/** A setting. A secret has no flag, because a process list would show it. */
export interface Setting<T = unknown> {
  flag: string | null;
  env: string;
  defaultText: string;
  help: string;
  /** Returns the value, or throws the rest of the sentence "<name> is <text>: it ...". */
  parse(text: string): T;
}

const wholeNumber = (min: number, max: number) => (text: string) => {
  if (text.startsWith('tcp://'))
    throw new Error(
      'must be a number; Kubernetes sets this variable for a service named "ballast": rename the service, or set enableServiceLinks: false in the pod',
    );
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
    throw new Error(`must be a whole number from ${min} to ${max}`);
  }
  return value;
};

const host = (text: string) => {
  if (!/^((?!unix:)[A-Za-z0-9.:-]+|\[[0-9A-Fa-f.:]+\]|unix:\/.{1,99})$/.test(text)) {
    throw new Error('must be an address, a host name, or unix: and an absolute path of at most 100 characters');
  }
  // An IPv6 address may have brackets, as in a URL.
  return text.replace(/^\[(.*)\]$/, '$1');
};

const MIB = 1_048_576;

export const settings: { [K in keyof Config]: Setting<Config[K]> } = {
  host: {
    flag: '--host <address>',
    env: 'BALLAST_HOST',
    defaultText: '127.0.0.1',
    help: 'address or host name to listen on; 0.0.0.0 or :: for all addresses (use TLS or a proxy); or unix:/run/ballast/ballast.sock',
    parse: host,
  },
  port: {
    flag: '--port <number>',
    env: 'BALLAST_PORT',
    defaultText: '8080',
    help: 'port to listen on; 0 picks a free port and prints it',
    parse: wholeNumber(0, 65_535),
  },
  adminPort: {
    flag: '--admin-port <number>',
    env: 'BALLAST_ADMIN_PORT',
    defaultText: '',
    help: 'port for /metrics, /healthz and /readyz; /metrics is then served only there; 0 picks a free port and prints it',
    parse: text => (text === '' ? null : wholeNumber(0, 65_535)(text)),
  },
  adminHost: {
    flag: '--admin-host <address>',
    env: 'BALLAST_ADMIN_HOST',
    defaultText: '127.0.0.1',
    help: 'address of the admin port, or unix:<path>, which needs no port',
    parse: host,
  },
  dashboard: {
    flag: '--dashboard <where>',
    env: 'BALLAST_DASHBOARD',
    defaultText: 'on',
    help: 'dashboard: on, off, or admin (only on the admin port)',
    parse: text => {
      if (text !== 'on' && text !== 'off' && text !== 'admin') throw new Error('must be on, off or admin');
      return text;
    },
  },
  httpServer: {
    flag: '--http-server <name>',
    env: 'BALLAST_HTTP_SERVER',
    defaultText: 'auto',
    help: 'HTTP server: uwebsockets (fast), node (runs everywhere), or auto (uwebsockets if it has a binary for this machine, else node)',
    parse: text => {
      if (text !== 'auto' && text !== 'uwebsockets' && text !== 'node') throw new Error('must be auto, uwebsockets or node');
      return text;
    },
  },
  dataDir: {
    flag: '--data-dir <folder>',
    env: 'BALLAST_DATA_DIR',
    defaultText: './data',
    help: 'folder of the store',
    parse: text => {
      if (text === '') throw new Error('must name a folder');
      return text;
    },
  },
  headerPrefixes: {
    flag: '--header-prefixes <list>',
    env: 'BALLAST_HEADER_PREFIXES',
    defaultText: 'SERVICE,KNAPSACK-PRO',
    help: 'prefixes of request headers such as <prefix>-TEST-SUITE-TOKEN',
    parse: text => {
      const prefixes = text.split(',').map(prefix => prefix.trim().toUpperCase());
      if (!prefixes.every(prefix => /^[A-Z0-9]+(-[A-Z0-9]+)*$/.test(prefix))) {
        throw new Error('must be a comma-separated list of header prefixes such as SERVICE,KNAPSACK-PRO');
      }
      return prefixes;
    },
  },
  publicUrl: {
    flag: '--public-url <url>',
    env: 'BALLAST_PUBLIC_URL',
    defaultText: '',
    help: 'address of this server in links (default: from the Host header of the request)',
    parse: text => {
      if (text === '') return null;
      const url = URL.canParse(text) ? new URL(text) : null;
      if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
        throw new Error('must be an address such as https://ballast.example.com');
      }
      return url.href.replace(/\/+$/, '');
    },
  },
  tlsCert: {
    flag: '--tls-cert <file>',
    env: 'BALLAST_TLS_CERT',
    defaultText: '',
    help: 'PEM file with the TLS certificate and its chain; SIGHUP reads it again',
    parse: text => (text === '' ? null : text),
  },
  tlsKey: {
    flag: '--tls-key <file>',
    env: 'BALLAST_TLS_KEY',
    defaultText: '',
    help: 'PEM file with the key of the certificate, without a passphrase',
    parse: text => (text === '' ? null : text),
  },
  trustedProxies: {
    flag: '--trusted-proxies <list>',
    env: 'BALLAST_TRUSTED_PROXIES',
    defaultText: '',
    help: 'proxies whose X-Forwarded-Proto, -Host and -For are used, in links and to slow down failed sign-ins, as addresses and ranges (10.0.0.0/8,::1)',
    parse: parseTrustedProxies,
  },
  retentionDays: {
    flag: '--retention-days <days>',
    env: 'BALLAST_RETENTION_DAYS',
    defaultText: '90',
    help: 'days after which records are deleted',
    parse: wholeNumber(1, 36_500),
  },
  pullCostSeconds: {
    flag: '--pull-cost-seconds <seconds>',
    env: 'BALLAST_PULL_COST_SECONDS',
    defaultText: '2',
    help: 'seconds that a node loses between two batches, for the request and the start of the test runner',
    parse: text => {
      const value = Number(text);
      if (text.trim() === '' || !(value >= 0.01 && value <= 600)) throw new Error('must be a number from 0.01 to 600');
      return value;
    },
  },
  leaseFactor: {
    flag: '--lease-factor <number>',
    env: 'BALLAST_LEASE_FACTOR',
    defaultText: '0',
    help: 'reassign a batch (at most once) when its node is silent for this multiple of the expected duration of the batch; 0: never',
    parse: text => {
      const value = Number(text);
      if (text.trim() === '' || !(value === 0 || (value >= 1 && value <= 1000))) throw new Error('must be 0 or a number from 1 to 1000');
      return value;
    },
  },
  leaseGraceSeconds: {
    flag: '--lease-grace-seconds <seconds>',
    env: 'BALLAST_LEASE_GRACE_SECONDS',
    defaultText: '300',
    help: 'extra seconds of silence allowed before a batch is reassigned',
    parse: wholeNumber(0, 86_400),
  },
  memoryBytes: {
    flag: '--memory-bytes <bytes>',
    env: 'BALLAST_MEMORY_BYTES',
    defaultText: String(DEFAULT_MEMORY_BYTES),
    help: 'memory of the process in bytes, of which its caches and buffers have parts',
    parse: wholeNumber(LEAST_MEMORY_BYTES, 1024 * 1024 * MIB),
  },
  maxBodyBytes: {
    flag: '--max-body-bytes <bytes>',
    env: 'BALLAST_MAX_BODY_BYTES',
    defaultText: String(32 * MIB),
    help: 'largest request body in bytes; larger ones get status 413',
    parse: wholeNumber(1024, 1024 * MIB),
  },
  dailyBytesPerProject: {
    flag: '--daily-bytes-per-project <bytes>',
    env: 'BALLAST_DAILY_BYTES_PER_PROJECT',
    defaultText: String(50 * 1024 * MIB),
    help: 'bytes that a project may store in a day; beyond it recordings and new queues and splits get status 507; 0: any number',
    parse: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  },
  queueCacheBytes: {
    flag: '--queue-cache-bytes <bytes>',
    env: 'BALLAST_QUEUE_CACHE_BYTES',
    defaultText: '',
    help: 'memory for open queues in bytes, without it a part of the memory; other queues are read from the store when needed',
    parse: text => (text === '' ? 0 : wholeNumber(MIB, 1024 * 1024 * MIB)(text)),
  },
  workers: {
    flag: '--workers <threads>',
    env: 'BALLAST_WORKERS',
    defaultText: String(Math.min(4, Math.max(1, availableParallelism() - 1))),
    help: 'number of threads that plan suites of 1,000 files or more',
    parse: wholeNumber(1, 64),
  },
  clientVersions: {
    flag: '--client-versions <list>',
    env: 'BALLAST_CLIENT_VERSIONS',
    defaultText: '',
    help: 'newest client versions as name=version,...; older clients are asked to update',
    parse: text => {
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
    flag: '--log-level <level>',
    env: 'BALLAST_LOG_LEVEL',
    defaultText: 'info',
    help: 'fatal, error, warn, info, debug (one line per request), trace or silent',
    parse: text => {
      if (!/^(fatal|error|warn|info|debug|trace|silent)$/.test(text)) {
        throw new Error('must be fatal, error, warn, info, debug, trace or silent');
      }
      return text;
    },
  },
  bootstrapToken: {
    flag: null,
    env: 'BALLAST_BOOTSTRAP_TOKEN',
    defaultText: '',
    help: 'token of the project "default", which is created if it does not exist',
    parse: text => {
      if (text === '') return null;
      // The message must not repeat the value, which is a secret.
      if (!/^[\x21-\x7e]{32,256}$/.test(text)) throw new Error('must be 32 to 256 printable characters without spaces');
      return text;
    },
  },
};
