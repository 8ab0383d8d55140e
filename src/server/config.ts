import type { BlockList } from 'node:net';
import type { HttpServerName } from '../http/choose-adapter.js';
import { boundsFor } from '../memory-bounds.js';
import { settings } from './settings.js';

/** The checked settings of `serve`. Modules read settings from here, never from the environment. */
export interface Config {
  host: string;
  port: number;
  /** Port for /metrics, /healthz and /readyz. /metrics is then served only there. Null: there is no admin port. */
  adminPort: number | null;
  adminHost: string;
  dashboard: 'on' | 'off' | 'admin';
  httpServer: HttpServerName;
  dataDir: string;
  /** Upper case, without the trailing dash. Messages name the first. */
  headerPrefixes: string[];
  /** PEM files for TLS; null: plain HTTP. */
  tlsCert: string | null;
  tlsKey: string | null;
  /** Proxies whose X-Forwarded headers are used; null: none. */
  trustedProxies: BlockList | null;
  /** Scheme and host of links in answers, without a trailing slash; null: from the Host header. */
  publicUrl: string | null;
  retentionDays: number;
  pullCostSeconds: number;
  /** 0: batches of silent nodes are never reassigned. */
  leaseFactor: number;
  leaseGraceSeconds: number;
  /** See memory-bounds.ts. */
  memoryBytes: number;
  maxBodyBytes: number;
  /** 0: any number. */
  dailyBytesPerProject: number;
  /** Memory for open queues. Others are read from the store when needed. */
  queueCacheBytes: number;
  /** Number of packing threads. */
  workers: number;
  /** Newest version by client name. */
  clientVersions: Map<string, string>;
  logLevel: string;
  bootstrapToken: string | null;
}

/** Lists every invalid setting, one sentence each. */
export class ConfigError extends Error {
  readonly exitCode = 2;

  constructor(readonly complaints: string[]) {
    super(complaints.join('\n'));
  }
}

/** Parses the given texts, by setting, with defaults for missing ones. Throws ConfigError. */
export function parseConfig(texts: { [K in keyof Config]?: string }): Config {
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
  const bounds = boundsFor(config.memoryBytes as number);
  config.queueCacheBytes ||= bounds.queues;
  // A token may use half of what requests have: two bodies of the largest size.
  const mostBodyBytes = Math.floor(bounds.requests / 4);
  if (texts.maxBodyBytes === undefined) config.maxBodyBytes = Math.min(config.maxBodyBytes as number, mostBodyBytes);
  else if ((config.maxBodyBytes as number) > mostBodyBytes)
    complaints.push(
      `BALLAST_MAX_BODY_BYTES (--max-body-bytes) is "${texts.maxBodyBytes}": with this BALLAST_MEMORY_BYTES (--memory-bytes) it must be at most ${mostBodyBytes}`,
    );
  if (complaints.length > 0) throw new ConfigError(complaints);
  return config as unknown as Config;
}
