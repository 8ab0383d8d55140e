import { limits } from '../limits.js';
import type { OpenAdapter } from './adapter.js';
import { openNodeAdapter } from './node/adapter.js';
import { openUwebsocketsAdapter } from './uwebsockets/adapter.js';
import { loadUwebsockets } from './uwebsockets/load.js';

/** The setting. auto: uWebSockets.js where it has a binary, else node:http. */
export type HttpServerName = 'auto' | 'uwebsockets' | 'node';

export interface ChosenAdapter {
  name: Exclude<HttpServerName, 'auto'>;
  open: OpenAdapter;
  /** A line for the log: which server it is, and why. */
  logLine: string;
}

/** Rejects with a sentence when uWebSockets.js is configured and no package has a binary that loads here. */
export async function chooseAdapter(wanted: HttpServerName): Promise<ChosenAdapter> {
  if (wanted === 'node') return { name: 'node', open: openNodeAdapter(limits), logLine: 'HTTP server: node:http, as configured' };
  try {
    const { uws, from } = await loadUwebsockets();
    const why = `HTTP server: uWebSockets.js of the package ${from}, ${wanted === 'auto' ? 'which has a binary for this machine' : 'as configured'}`;
    return { name: 'uwebsockets', open: openUwebsocketsAdapter(uws), logLine: why };
  } catch (error) {
    const lack = `no package of uWebSockets.js loads with Node ${process.versions.node} on ${process.platform}-${process.arch} (${(error as Error).message})`;
    if (wanted === 'uwebsockets')
      throw new Error(
        `cannot serve HTTP with uWebSockets.js: ${lack}; set BALLAST_HTTP_SERVER to auto or node, or see src/docs/platforms.md`,
        { cause: error },
      );
    return {
      name: 'node',
      open: openNodeAdapter(limits),
      logLine: `HTTP server: node:http, which takes more processor time, because ${lack}; see src/docs/platforms.md`,
    };
  }
}
