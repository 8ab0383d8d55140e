import type { ServerOptions } from '../../test/testbed/server.js';

/** A server with them measures the delay of its event loop: see probe.ts. */
export const probed: ServerOptions = { nodeArgs: ['--import', new URL('./probe.js', import.meta.url).href], hasChannel: true };
