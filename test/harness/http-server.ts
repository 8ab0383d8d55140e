import { chooseFront, type FrontName } from '../../src/http/choose-front.js';

/** vitest.config.ts sets the variable for one project; the environment may set it for the others. */
const wanted = (process.env['BALLAST_HTTP_SERVER'] ?? 'auto') as FrontName;

/** The HTTP server under test. */
export const { open: openFront, name: httpServer } = await chooseFront(wanted);

/** Each HTTP server that this machine can run, for a test that starts both itself. */
export const httpServers = [...new Set([httpServer, 'node'] as const)];
