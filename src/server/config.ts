import type { BlockList } from 'node:net';
import type { HttpServerName } from '../http/choose-adapter.js';
import { settings } from './settings.js';

/** Settings of `serve`, checked. Modules get values from here, never the environment. */
export interface Config {
  host: string;
  port: number;
  /** Where /metrics, /healthz and /readyz are to be had besides; then /metrics only there. Null: no such place. */
  adminPort: number | null;
  adminHost: string;
  httpServer: HttpServerName;
  dataDir: string;
  /** Upper case, without the trailing dash; the first is named in messages. */
  headerPrefixes: string[];
  /** PEM files for TLS; null: plain HTTP. */
  tlsCert: string | null;
  tlsKey: string | null;
  /** Proxies that tell how a client reached them; null: none is believed. */
  trustedProxies: BlockList | null;
  /** Scheme and host of links in answers, without a trailing slash; null: from the Host header. */
  publicUrl: string | null;
  retentionDays: number;
  pullCostSeconds: number;
  /** 0: nodes may be silent for ever. */
  leaseFactor: number;
  leaseGraceSeconds: number;
  maxBodyBytes: number;
  /** Bytes of queues kept in memory; queues beyond it are read back from the store when asked for. */
  queueCacheBytes: number;
  /** Threads that pack large suites. */
  workers: number;
  /** Newest version by client name. */
  clientVersions: Map<string, string>;
  logLevel: string;
  bootstrapToken: string | null;
}

/** Every wrong setting, a sentence each. */
export class ConfigError extends Error {
  readonly exitCode = 2;

  constructor(readonly complaints: string[]) {
    super(complaints.join('\n'));
  }
}

/** Parses the texts given (by setting); what is missing takes its default. Throws ConfigError. */
export function parseConfig(texts: { [K in keyof Config]?: string }): Config {
  const complaints: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const text = texts[name as keyof Config] ?? setting.defaultText;
    try {
      config[name] = setting.parse(text);
    } catch (error) {
      const shown = setting.flag ? ` is "${text}"` : '';
      const names = setting.flag ? `${setting.env} (${setting.flag.split(' ')[0]})` : setting.env;
      complaints.push(`${names}${shown}: it ${(error as Error).message}`);
    }
  }
  if ((config.tlsCert === null) !== (config.tlsKey === null))
    complaints.push('BALLAST_TLS_CERT (--tls-cert) and BALLAST_TLS_KEY (--tls-key): give both or neither');
  if (texts.adminHost !== undefined && config.adminPort === null) {
    // A socket in the file system has no port.
    if (texts.adminHost.startsWith('unix:')) config.adminPort = 0;
    else
      complaints.push(
        'BALLAST_ADMIN_HOST (--admin-host) is given without BALLAST_ADMIN_PORT (--admin-port): give both, 0 picks a free port',
      );
  }
  if (complaints.length > 0) throw new ConfigError(complaints);
  return config as unknown as Config;
}
