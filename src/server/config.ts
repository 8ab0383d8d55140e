import { boundsFor } from '../memory-bounds.js';
import { UsageError } from '../usage-error.js';
import { type Config, settings } from './settings.js';

export type { Config };

/** Parses the given texts, by setting, with defaults for missing ones. Throws a UsageError with a sentence for each invalid setting. */
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
  if (complaints.length > 0) throw new UsageError(complaints);
  return config as unknown as Config;
}
