import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { createCertificate } from './create-certificate.js';

/** Status and body of a GET, and whose certificate came with it. */
async function get(url: string, options: object = {}): Promise<{ status: number; text: string; name: string | undefined }> {
  const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, {
    rejectUnauthorized: false,
    agent: false,
    ...options,
  }).end();
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  const name =
    'getPeerCertificate' in response.socket
      ? (response.socket as import('node:tls').TLSSocket).getPeerCertificate().subject.CN?.toString()
      : undefined;
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode!, text, name };
}

describe('a server with a certificate', () => {
  it('speaks TLS, says so in links, and tells when the certificate ends', async () => {
    const server = await startServer(createCertificate('ballast.example.com', temporaryFolder(), 1));
    expect(server.url).toMatch(/^https:/);
    const { status, text, name } = await get(`${server.url}/v1/builds`, { headers: { 'SERVICE-TEST-SUITE-TOKEN': server.token } });
    expect([status, name]).toEqual([200, 'ballast.example.com']);
    expect(JSON.parse(text).links.self).toBe(`${server.url}/v1/builds?page=1`);
    const metrics = await get(`${server.url}/metrics`);
    const endsAt = Number(/^ballast_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(metrics.text)?.[1]);
    expect(Math.abs(endsAt - Date.now() / 1000 - 86_400)).toBeLessThan(300);
    expect(server.log.join()).toContain('the certificate expires soon');
  });

  it('takes a renewed one for new connections, and keeps the old one when the new one is wrong', async () => {
    const folder = temporaryFolder();
    const files = createCertificate('old', folder);
    const server = await startServer(files);
    const nameNow = async () => (await get(`${server.url}/healthz`)).name;
    expect(await nameNow()).toBe('old');
    createCertificate('new', folder);
    await server.service.renew();
    expect(await nameNow()).toBe('new');
    writeFileSync(files.tlsKey, readFileSync(createCertificate('another').tlsKey));
    await expect(server.service.renew()).rejects.toThrow(/^cannot serve TLS with the certificate .*cert\.pem and the key .*key\.pem: /);
    expect(await nameNow()).toBe('new');
  });

  it('does not start with files that are none, or with one of them', async () => {
    const { tlsCert, tlsKey } = createCertificate('a');
    await expect(startServer({ tlsCert, tlsKey: join(temporaryFolder(), 'nothing') })).rejects.toThrow(/^cannot serve TLS .*ENOENT/);
    await expect(startServer({ tlsCert: tlsKey, tlsKey })).rejects.toThrow(/^cannot serve TLS/);
    await expect(startServer({ tlsCert })).rejects.toThrow(
      'BALLAST_TLS_CERT (--tls-cert) and BALLAST_TLS_KEY (--tls-key): give both or neither',
    );
  });
});

describe('a server on a socket in the file system', () => {
  it('answers there, also where one was left behind', async () => {
    const path = join(temporaryFolder(), 's.sock');
    const first = await startServer({ host: `unix:${path}` });
    expect(first.url).toBe(`unix:${path}`);
    expect((await get('http://localhost/healthz', { socketPath: path })).status).toBe(200);
    await expect(startServer({ host: `unix:${path}` })).rejects.toThrow(`cannot listen on ${path}: another process listens there`);
    expect((statSync(path).mode & 0o777).toString(8)).toBe('666');
    await first.close();
    expect(existsSync(path)).toBe(false);
    // As a process leaves it that was killed.
    const left = createServer().listen(`${path}.other`);
    await once(left, 'listening');
    renameSync(`${path}.other`, path);
    left.close();
    await once(left, 'close');
    expect(existsSync(path)).toBe(true);
    await startServer({ host: `unix:${path}` });
    expect((await get('http://localhost/healthz', { socketPath: path })).status).toBe(200);
  });

  it('is one of two that start at the same time where a socket was left behind', async () => {
    const path = join(temporaryFolder(), 's.sock');
    const left = createServer().listen(`${path}.other`);
    await once(left, 'listening');
    renameSync(`${path}.other`, path);
    left.close();
    await once(left, 'close');
    const started = await Promise.allSettled([startServer({ host: `unix:${path}` }), startServer({ host: `unix:${path}` })]);
    expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = started.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(String(refused.reason)).toMatch(/^Error: cannot listen on .*: another process listens there \(process \d+ on /);
    expect((await get('http://localhost/healthz', { socketPath: path })).status).toBe(200);
  });

  it('leaves alone what another program listens on, or may', async () => {
    const path = join(temporaryFolder(), 's.sock');
    const other = createServer().listen(path);
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    await expect(startServer({ host: `unix:${path}` })).rejects.toThrow(/^cannot listen on .*: another process listens there; choose/);
    // A probe that fails tells nothing.
    const connecting = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket) {
      return this.destroy(Object.assign(new Error('connect EACCES'), { code: 'EACCES' }));
    });
    onTestFinished(() => connecting.mockRestore());
    await expect(startServer({ host: `unix:${path}` })).rejects.toThrow(
      /^cannot listen on .*: it is unknown whether another process listens there \(connect EACCES\); remove that socket, or choose/,
    );
    expect(existsSync(path)).toBe(true);
  });

  it('does not take the place of a file', async () => {
    const path = join(temporaryFolder(), 'file');
    writeFileSync(path, 'precious');
    await expect(startServer({ host: `unix:${path}` })).rejects.toThrow(`cannot listen on ${path}: there is a file that is not a socket`);
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });
});

describe('a server on an address of IPv6', () => {
  const hasIt = Object.values(networkInterfaces()).some(addresses => addresses?.some(({ address }) => address === '::1'));

  it.skipIf(!hasIt)('answers there', async () => {
    const server = await startServer({ host: '::1' });
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await get(`${server.url}/healthz`)).status).toBe(200);
    onTestFinished(() => server.close());
  });
});
