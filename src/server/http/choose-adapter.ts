import type { OpenAdapter } from './adapter.js';
import { IDLE_SECONDS } from './answer.js';
import { openNodeAdapter } from './nodejs/adapter.js';
import { UwebsocketsAdapter } from './uwebsockets/adapter.js';
import { loadUwebsockets } from './uwebsockets/load.js';

/** `headSeconds`: time limit of a request's head and of a TLS handshake with node:http. uWebSockets.js has limits of its own. */
const TIMEOUTS = { headSeconds: 10, idleSeconds: IDLE_SECONDS };

/** Value of the setting. auto: uWebSockets.js if it has a binary for this machine, else node:http. */
export type HttpServerName = 'auto' | 'uwebsockets' | 'node';

export interface ChosenAdapter {
  name: Exclude<HttpServerName, 'auto'>;
  open: OpenAdapter;
  /** States which server was chosen, and why. */
  logLine: string;
}

/** Rejects if uWebSockets.js is configured and no package has a binary that loads here. */
export async function chooseAdapter(name: HttpServerName): Promise<ChosenAdapter> {
  if (name === 'node')
    return {
      name,
      open: openNodeAdapter(TIMEOUTS),
      logLine: 'HTTP server: node:http, which takes more processor time, as configured',
    };
  try {
    const { uws, packageName } = await loadUwebsockets();
    const reason = name === 'auto' ? 'which has a binary for this machine' : 'as configured';
    const logLine = `HTTP server: uWebSockets.js of the package ${packageName}, ${reason}`;
    return { name: 'uwebsockets', open: options => new UwebsocketsAdapter(uws, options), logLine };
  } catch (error) {
    const { platform, arch, versions } = process;
    const reason = `no package of uWebSockets.js loads with Node ${versions.node} on ${platform}-${arch} (${(error as Error).message})`;
    if (name === 'uwebsockets')
      throw new Error(
        `cannot serve HTTP with uWebSockets.js: ${reason}; set BALLAST_HTTP_SERVER to auto or node, or see src/docs/operate/platforms.md`,
        { cause: error },
      );
    const logLine = `HTTP server: node:http, which takes more processor time, because ${reason}; see src/docs/operate/platforms.md`;
    return { name: 'node', open: openNodeAdapter(TIMEOUTS), logLine };
  }
}
