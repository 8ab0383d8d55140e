import { chooseAdapter, type HttpServerName } from '../../src/server/http/choose-adapter.js';

/** vitest.config.ts sets the variable for one project. For the others, the environment may set it. */
const requested = (process.env.BALLAST_HTTP_SERVER ?? 'auto') as HttpServerName;

/** The HTTP server under test. */
export const { open: openAdapter, name: httpServer } = await chooseAdapter(requested);

/** The HTTP servers that this machine can run, for tests that start each of them. */
export const httpServers = [...new Set([httpServer, 'node'] as const)];
