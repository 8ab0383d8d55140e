import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { httpServers } from '../harness/http-server.js';
import { spawnServer } from '../harness/process.js';

describe.skipIf(process.platform !== 'linux').each(httpServers)('a server over %s with few open files', name => {
  it('refuses connections, and accepts them again on the same port after some have ended', async () => {
    const server = await spawnServer({ env: { BALLAST_HTTP_SERVER: name }, under: ['sh', '-c', 'ulimit -n 120; exec "$@"', 'sh'] });
    const { hostname, port } = new URL(server.url);
    const silent: Socket[] = [];
    const refused = async () => {
      for (;;) {
        const socket = connect(Number(port), hostname);
        try {
          await once(socket, 'connect');
          silent.push(socket.on('error', () => {}));
        } catch (error) {
          return (error as NodeJS.ErrnoException).code;
        }
      }
    };
    // ECONNRESET: the server stopped listening while the connection was in its backlog.
    expect(await refused()).toMatch(/^ECONN(REFUSED|RESET)$/);
    expect(silent.length).toBeGreaterThan(10);
    for (const socket of silent) socket.destroy();
    await vi.waitFor(async () => expect((await server.get('/v1/builds')).status).toBe(200), { timeout: 5000, interval: 5 });
    expect(server.stderr()).toMatch(
      /"msg":"no room for more connections, .* the limit is 120 open files; .*\n.*"msg":"there is room for connections again"/,
    );
    expect(await server.stop('SIGTERM')).toBe(0);
  });
});
