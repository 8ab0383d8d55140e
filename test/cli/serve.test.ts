import { describe, expect, it, vi } from 'vitest';
import { Browser } from '../harness/browser.js';
import { Client } from '../harness/client.js';
import { record, subsetMessage } from '../harness/messages.js';
import { runBallast, spawnServer } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { RawConnection, requestHead } from '../server/http/raw-connection.js';

describe('the first start', () => {
  it('in an empty folder creates a project and prints its token and a sign-in link once', async () => {
    const dataDir = temporaryFolder();
    const first = await spawnServer({ dataDir, token: null });
    const token = /^[0-9a-f]{32,}$/m.exec(first.stdout())?.[0] ?? '';
    const link = new RegExp(`^${first.url}/sign-in#([0-9a-f]{64})$`, 'm').exec(first.stdout());
    expect(first.stdout()).toBe(
      `Made the project "default". Its test-suite token, shown only now:\n${token}\n` +
        'Clients send it as SERVICE-TEST-SUITE-TOKEN or KNAPSACK-PRO-TEST-SUITE-TOKEN.\n' +
        `Sign in to the dashboard with this link, once and within 10 minutes:\n${link?.[0]}\n` +
        `Ballast listens on ${first.url} (data in ${dataDir})\n`,
    );
    await record(new Client(first.url, token));
    expect((await new Browser(first.url).signIn(link![1]!)).json.role).toBe('operator');
    expect(await first.stop('SIGTERM')).toBe(0);
    expect(first.stderr()).not.toContain(token);
    expect(first.stderr()).not.toContain(link![1]);
    expect(first.stderr()).not.toContain('less memory');

    const second = await startServer({ dataDir, bootstrapToken: '' });
    expect([second.service.firstToken, second.service.firstLink]).toEqual([null, null]);
    expect((await new Client(second.url, token).get('/v1/builds')).json.data).toHaveLength(1);
  });

  it('warns when the machine has less memory than the setting says; says that node:http answers, and why', async () => {
    const { stdout, stderr } = await spawnServer({ flags: ['--memory-bytes', String(2 ** 40)], env: { BALLAST_HTTP_SERVER: 'node' } });
    expect(stderr()).toMatch(
      /"neededBytes":1099511627776,"availableBytes":\d+,"msg":"this machine or container has less memory than BALLAST_MEMORY_BYTES/,
    );
    expect(stdout()).toMatch(/ \(data in .*; HTTP server: node:http, which takes more processor time, as configured\)\n$/);
  });

  it('with BALLAST_BOOTSTRAP_TOKEN creates the project "default" with that token, and prints none', async () => {
    const dataDir = temporaryFolder();
    const server = await spawnServer({ dataDir, token: 'bootstrap-token-of-at-least-32-characters' });
    expect(server.stdout()).toBe(`Ballast listens on ${server.url} (data in ${dataDir})\n`);
    expect((await server.get('/v1/builds')).status).toBe(200);
    expect((await runInProcess(['project', 'list', '--data-dir', dataDir])).stdout).toMatch(/^default\t\S+\t1 token\n$/);
  });

  it('keeps the project and both tokens if the bootstrap token changes later', async () => {
    const dataDir = temporaryFolder();
    const first = await startServer({ dataDir, bootstrapToken: 'first-'.repeat(6) });
    await record(first);
    await first.close();
    const second = await startServer({ dataDir, bootstrapToken: 'second-'.repeat(6) });
    for (const token of [first.token, second.token]) {
      expect((await new Client(second.url, token).get('/v1/builds')).json.data).toHaveLength(1);
    }
  });
});

describe('SIGTERM', () => {
  it('finishes the answer in flight, accepts no new connection and exits with 0', async () => {
    const dataDir = temporaryFolder();
    const server = await spawnServer({ dataDir });
    const body = JSON.stringify(subsetMessage());
    const connection = await RawConnection.open(server.url);
    // The answer to the first request shows that the head of the second has arrived.
    connection.send(
      requestHead('GET /healthz', []),
      requestHead('POST /v1/build_subsets', [`SERVICE-TEST-SUITE-TOKEN: ${server.token}`, `Content-Length: ${body.length}`]),
      body.slice(0, 20),
    );
    expect((await connection.reply())?.status).toBe(200);
    server.child.kill('SIGTERM');
    const refused = () => expect(RawConnection.open(server.url)).rejects.toThrow(/ECONNREFUSED/);
    await vi.waitFor(refused, { timeout: 5000, interval: 5 });
    connection.send(body.slice(20));
    expect(await connection.reply()).toMatchObject({ status: 201, text: '' });
    expect(await server.ended).toBe(0);

    const again = await startServer({ dataDir });
    expect((await again.get('/v1/builds')).json.data).toHaveLength(1);
  });

  it('or SIGINT exits at once with 0 as soon as the address is printed, even with an idle connection', async () => {
    const server = await spawnServer();
    const idle = await RawConnection.open(server.url);
    expect(await server.stop('SIGINT')).toBe(0);
    expect(await idle.closed()).toBe('');
  });
});

describe('serve', () => {
  it('names all wrong settings, prefers flags to the environment, and exits with 2', async () => {
    const env = {
      BALLAST_LOG_LEVEL: 'debug',
      BALLAST_PORT: 'http',
      BALLAST_RETENTION_DAYS: '0',
      BALLAST_PUBLIC_URL: 'ballast.example.com',
      BALLAST_CLIENT_VERSIONS: 'knapsack_pro',
      BALLAST_BOOTSTRAP_TOKEN: 'short secret',
    };
    const { code, stdout, stderr } = await runInProcess(['serve', '--workers', '0', '--log-level', 'loud'], env);
    expect(stderr.split('\n')).toEqual([
      'ballast: BALLAST_PORT (--port) is "http": it must be a whole number from 0 to 65535',
      'ballast: BALLAST_PUBLIC_URL (--public-url) is "ballast.example.com": ' + 'it must be an address such as https://ballast.example.com',
      'ballast: BALLAST_RETENTION_DAYS (--retention-days) is "0": it must be a whole number from 1 to 36500',
      'ballast: BALLAST_WORKERS (--workers) is "0": it must be a whole number from 1 to 64',
      'ballast: BALLAST_CLIENT_VERSIONS (--client-versions) is "knapsack_pro": ' +
        'it must be a list such as knapsack_pro=7.14.0,@knapsack-pro/jest=9.0.0',
      'ballast: BALLAST_LOG_LEVEL (--log-level) is "loud": it must be fatal, error, warn, info, debug, trace or silent',
      'ballast: BALLAST_BOOTSTRAP_TOKEN: it must be 32 to 256 printable characters without spaces',
      '',
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('exits with 1 if the port is in use, and leaves no token that was not printed', async () => {
    const { url } = await startServer();
    const { port } = new URL(url);
    const dataDir = temporaryFolder();
    const env = { BALLAST_BOOTSTRAP_TOKEN: '' };
    const { code, stdout, stderr } = await runBallast(['serve', '--port', port, '--data-dir', dataDir], env);
    expect(stderr).toBe(
      `ballast: cannot listen on 127.0.0.1 port ${port}: it is in use, it is not an address of this machine, or this user may not listen there (ports below 1024); ` +
        'choose another with BALLAST_PORT or BALLAST_HOST\n',
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect((await startServer({ dataDir, bootstrapToken: '' })).service.firstToken).toMatch(/^[0-9a-f]{32,}$/);
  });
});
