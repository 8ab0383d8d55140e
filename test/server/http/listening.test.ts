import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { createCertificate } from './create-certificate.js';

/** Sends a GET, and returns its status, its body, and the common name of the server's certificate. */
async function get(url: string, options: object = {}): Promise<{ status: number; text: string; name: string | undefined }> {
  const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, {
    rejectUnauthorized: false,
    agent: false,
    ...options,
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const name = (response.socket as Partial<TLSSocket>).getPeerCertificate?.().subject.CN?.toString();
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode!, text, name };
}

describe('a server with a certificate', () => {
  it('uses TLS, has https in links, and reports the expiry of the certificate', async () => {
    const server = await startServer(createCertificate('ballast.example.com', temporaryFolder(), 1));
    expect(server.url).toMatch(/^https:/);
    const { status, text, name } = await get(`${server.url}/v1/builds`, { headers: { 'SERVICE-TEST-SUITE-TOKEN': server.token } });
    expect([status, name]).toEqual([200, 'ballast.example.com']);
    expect(JSON.parse(text).links.self).toBe(`${server.url}/v1/builds?page=1`);
    const metrics = await get(`${server.url}/metrics`);
    const expiresAt = Number(/^ballast_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(metrics.text)?.[1]);
    expect(Math.abs(expiresAt - Date.now() / 1000 - 86_400)).toBeLessThan(300);
    expect(server.log.join()).toContain('the certificate expires soon');
  });

  it('uses a renewed certificate for new connections, and keeps the old one if the new one is invalid', async () => {
    const folder = temporaryFolder();
    const files = createCertificate('old', folder);
    const server = await startServer(files);
    const currentName = async () => (await get(`${server.url}/healthz`)).name;
    expect(await currentName()).toBe('old');
    createCertificate('new', folder);
    await server.service.renew();
    expect(await currentName()).toBe('new');
    writeFileSync(files.tlsKey, readFileSync(createCertificate('another').tlsKey));
    await expect(server.service.renew()).rejects.toThrow(/^cannot serve TLS with the certificate .*cert\.pem and the key .*key\.pem: /);
    expect(await currentName()).toBe('new');
  });

  it('does not start with invalid files, or with only one of them', async () => {
    const { tlsCert, tlsKey } = createCertificate('a');
    await expect(startServer({ tlsCert, tlsKey: join(temporaryFolder(), 'nothing') })).rejects.toThrow(/^cannot serve TLS .*ENOENT/);
    await expect(startServer({ tlsCert: tlsKey, tlsKey })).rejects.toThrow(/^cannot serve TLS/);
    await expect(startServer({ tlsCert })).rejects.toThrow(
      'BALLAST_TLS_CERT (--tls-cert) and BALLAST_TLS_KEY (--tls-key): give both or neither',
    );
  });
});

/** Leaves a socket behind, as a killed process does. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.other`);
  await once(server, 'listening');
  renameSync(`${path}.other`, path);
  server.close();
  await once(server, 'close');
  expect(existsSync(path)).toBe(true);
}

describe('a server on a Unix socket', () => {
  it('answers there, and replaces a socket that was left behind', async () => {
    const path = join(temporaryFolder(), 's.sock');
    const first = await startServer({ host: `unix:${path}` });
    expect(first.url).toBe(`unix:${path}`);
    expect((await get('http://localhost/healthz', { socketPath: path })).status).toBe(200);
    await expect(startServer({ host: `unix:${path}` })).rejects.toThrow(`cannot listen on ${path}: another process listens there`);
    expect((statSync(path).mode & 0o777).toString(8)).toBe('666');
    await first.close();
    expect(existsSync(path)).toBe(false);
    await leaveSocket(path);
    await startServer({ host: `unix:${path}` });
    expect((await get('http://localhost/healthz', { socketPath: path })).status).toBe(200);
  });

  it('is the only one if two start at the same time where a socket was left behind', async () => {
    const path = join(temporaryFolder(), 's.sock');
    await leaveSocket(path);
    const started = await Promise.allSettled([startServer({ host: `unix:${path}` }), startServer({ host: `unix:${path}` })]);
    expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = started.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(String(refused.reason)).toMatch(/^Error: cannot listen on .*: another process listens there \(process \d+ on /);
    expect((await get('http://localhost/healthz', { socketPath: path })).status).toBe(200);
  });

  it('does not take a socket that another program listens on, or may listen on', async () => {
    const path = join(temporaryFolder(), 's.sock');
    const other = createServer().listen(path);
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    await expect(startServer({ host: `unix:${path}` })).rejects.toThrow(/^cannot listen on .*: another process listens there; choose/);
    // If the probe fails, the answer is unknown.
    const connecting = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket) {
      return this.destroy(Object.assign(new Error('connect EACCES'), { code: 'EACCES' }));
    });
    onTestFinished(() => connecting.mockRestore());
    await expect(startServer({ host: `unix:${path}` })).rejects.toThrow(
      /^cannot listen on .*: it is unknown whether another process listens there \(connect EACCES\); remove that socket, or choose/,
    );
    expect(existsSync(path)).toBe(true);
  });

  it('does not replace a file', async () => {
    const path = join(temporaryFolder(), 'file');
    writeFileSync(path, 'precious');
    await expect(startServer({ host: `unix:${path}` })).rejects.toThrow(`cannot listen on ${path}: there is a file that is not a socket`);
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });
});

describe('a server on an IPv6 address', () => {
  const hasLoopback = Object.values(networkInterfaces()).some(addresses => addresses?.some(({ address }) => address === '::1'));

  it.skipIf(!hasLoopback)('answers there', async () => {
    const server = await startServer({ host: '::1' });
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await get(`${server.url}/healthz`)).status).toBe(200);
    onTestFinished(() => server.close());
  });
});
