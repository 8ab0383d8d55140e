import { chooseAdapter, type HttpServerName } from '../../src/http/choose-adapter.js';

/** vitest.config.ts sets the variable for one project; the environment may set it for the others. */
const requested = (process.env.BALLAST_HTTP_SERVER ?? 'auto') as HttpServerName;

/** The HTTP server under test. */
export const { open: openAdapter, name: httpServer } = await chooseAdapter(requested);

/** Each HTTP server that this machine can run, for a test that starts both itself. */
export const httpServers = [...new Set([httpServer, 'node'] as const)];
