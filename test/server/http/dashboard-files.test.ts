import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readDashboardFiles } from '../../../src/server/process/dashboard.js';
import { Client, refusal } from '../../harness/client.js';
import { SharedServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { RawConnection, requestHead } from './raw-connection.js';

const PAGE = '<!doctype html><title>Ballast</title>';
const SCRIPT = 'console.log("ballast")';
const STYLE = 'body{}'.repeat(20_000);
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Reads a front end as the build leaves it. */
function builtFiles() {
  const folder = temporaryFolder(afterAll);
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'secret.js'), 'secret');
  for (const [name, text] of Object.entries({ 'index.html': PAGE, 'assets/main-1A2B.js': SCRIPT, 'assets/main-1A2B.css': STYLE })) {
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(folder, 'assets/chart-3C4D.svg'), '<svg/>');
  writeFileSync(join(folder, 'assets/main-1A2B.js.map'), '{}');
  return readDashboardFiles(folder);
}

const files = builtFiles();
const withFiles = { dashboardFiles: () => files };
const server = new SharedServer({}, withFiles);
/** Asks for no compressed copy. */
const PLAIN = { 'Accept-Encoding': 'identity' };
const get = (path: string, headers: Record<string, string> = {}) => server.send(path, { headers });

describe('a page of the dashboard', () => {
  it.each(['/', '/projects', '/p/web/builds', '/p/a%2Fb/files/file?path=x', '/server', '/access', '/docs', '/docs/api', '/sign-in'])(
    'is the same document at %s',
    async path => {
      const { status, text, headers } = await get(path);
      expect([status, text]).toEqual([200, PAGE]);
      expect(Object.fromEntries(headers)).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
    },
  );

  it('loads nothing from elsewhere, has no inline code, is not framed and sends its address nowhere', async () => {
    const { headers } = await get('/');
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy': CSP,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()') as string,
    });
    expect(headers.get('set-cookie')).toBeNull();
  });

  it('preloads the session where the browser has a cookie of one', async () => {
    const preload = '</dashboard/session>; rel=preload; as=fetch; crossorigin';
    const linkOf = async (path: string, Cookie: string) => (await get(path, { Cookie })).headers.get('link');
    const cookie = `ballast_session=${'a1'.repeat(32)}`;
    expect([await linkOf('/', cookie), await linkOf('/sign-in', cookie), await linkOf('/', 'other=1')]).toEqual([preload, null, null]);
  });

  it('is not sent again to a browser that has it', async () => {
    const first = await get('/', PLAIN);
    const headers = { ...PLAIN, 'If-None-Match': first.headers.get('etag')! };
    expect(await get('/projects', headers)).toMatchObject({ status: 304, text: '' });
    expect(await get('/', { ...headers, 'Accept-Encoding': 'br' })).toMatchObject({ status: 200, text: PAGE });
  });

  it.each([
    [(tag: string) => `W/${tag}`, 304],
    [(tag: string) => `"other", W/"another",${tag}`, 304],
    [() => '*', 304],
    [(tag: string) => tag.replaceAll('"', ''), 200],
    [(tag: string) => `"x${tag.slice(1)}`, 200],
    [() => '"*"', 200],
  ])('compares entity tags as weak ones: %s gets a %d', async (ifNoneMatch, status) => {
    for (const path of ['/', '/assets/main-1A2B.js']) {
      const { headers } = await get(path, PLAIN);
      expect((await get(path, { ...PLAIN, 'If-None-Match': ifNoneMatch(headers.get('etag')!) })).status).toBe(status);
    }
  });

  it('answers a 304 without a body on a connection that stays open', async () => {
    const { headers } = await get('/', PLAIN);
    const connection = await RawConnection.open(
      server.url,
      requestHead('GET /', [`If-None-Match: ${headers.get('etag')}`]),
      requestHead('GET /healthz', ['Connection: close']),
    );
    const bytes = await connection.closed();
    expect(bytes).toMatch(/^HTTP\/1\.1 304 Not Modified\r\n/);
    expect(bytes).not.toContain(PAGE);
    expect(bytes).toMatch(/\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  it('answers HEAD with the length and no body', async () => {
    const reply = await server.send('/', { method: 'HEAD', headers: PLAIN });
    expect([reply.status, reply.text, reply.headers.get('content-length')]).toEqual([200, '', String(PAGE.length)]);
  });

  it.each([
    ['POST', '/'],
    ['GET', '/page'],
    ['GET', '/server.js'],
    ['GET', '/v1'],
    ['DELETE', '/projects'],
  ])('is not the answer to %s %s', async (method, path) => {
    const reply = await server.send(path, { method });
    expect(reply).toMatchObject(refusal(404, expect.stringContaining(path)));
    expect(reply.headers.get('content-security-policy')).toBe(CSP);
  });
});

describe('an address without a page', () => {
  const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  it.each(['/bogus', '/dashboard', '/p/web/bogus', '/p', '/favicon.ico'])(
    'is answered to a browser by the page that says so: %s',
    async path => {
      const { status, text, headers } = await get(path, { ...BROWSER, 'If-None-Match': '*' });
      expect([status, text]).toEqual([404, PAGE]);
      expect(Object.fromEntries(headers)).toMatchObject({ 'cache-control': 'no-store', 'content-security-policy': CSP });
      expect(await get(path)).toMatchObject(refusal(404, expect.stringContaining(path)));
    },
  );

  it.each([
    ['GET', '/v1/bogus', 404],
    ['GET', '/v1/v1/builds', 422],
    ['GET', '/v2/bogus', 422],
    ['GET', '/assets/bogus.js', 404],
    ['POST', '/bogus', 404],
  ])('is answered in JSON to a browser, too: %s %s', async (method, path, status) => {
    expect(await server.send(path, { method, headers: BROWSER })).toMatchObject(refusal(status, expect.stringContaining(path)));
  });
});

describe('an asset of the dashboard', () => {
  it('is cached for ever, because its name has the hash of its content', async () => {
    const reply = await get('/assets/main-1A2B.js', PLAIN);
    expect([reply.status, reply.text]).toEqual([200, SCRIPT]);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'content-security-policy': CSP,
      vary: 'Accept-Encoding',
    });
    expect(reply.headers.get('content-encoding')).toBeNull();
  });

  it.each([
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip, brotli', 'gzip'],
    ['br;q=0, gzip;q=0.000', null],
    ['brotli', null],
    ['identity', null],
  ])('with Accept-Encoding: %s is sent as %s', async (acceptEncoding, encoding) => {
    const reply = await get('/assets/main-1A2B.css', { 'Accept-Encoding': acceptEncoding });
    expect(reply.headers.get('content-encoding')).toBe(encoding);
    expect(reply.text).toBe(STYLE);
  });

  it('without a compressed copy is sent as it is', async () => {
    const reply = await fetch(`${server.url}/assets/chart-3C4D.svg`, { headers: { 'Accept-Encoding': 'br' } });
    expect(Object.fromEntries(reply.headers)).toMatchObject({ 'content-type': 'image/svg+xml' });
    expect([await reply.text(), reply.headers.get('content-encoding')]).toEqual(['<svg/>', null]);
  });

  it.each([
    '/assets/',
    '/assets/missing.js',
    '/assets/../secret.js',
    '/assets/..%2fsecret.js',
    '/assets/%2e%2e/secret.js',
    '/assets/..\\secret.js',
    '/assets//main-1A2B.js',
    '/assets/main-1A2B.js.br',
    '/assets/main-1A2B.js.map',
    '/assets/main-1A2B.js%00',
    '/assets/__proto__',
    '//assets/../../etc/passwd',
  ])('never is another file: %s', async path => {
    const connection = await RawConnection.open(server.url, requestHead(`GET ${path}`, ['Connection: close']));
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  });
});

describe('the setting of the dashboard', () => {
  const off = new SharedServer({ dashboard: 'off', adminPort: '0' }, withFiles);
  const admin = new SharedServer({ dashboard: 'admin', adminPort: '0' }, withFiles);
  const paths = ['/', '/projects', '/assets/main-1A2B.js'];
  const statuses = async (url: string) => Promise.all(paths.map(async path => (await new Client(url, '').send(path, {})).status));

  it('off serves it on no port', async () => {
    expect(await statuses(off.url)).toEqual([404, 404, 404]);
    expect(await statuses(off.service.adminUrl!)).toEqual([404, 404, 404]);
    expect((await off.send('/', {})).json.errors).toEqual(['there is no GET /; the paths of the API begin with /v1']);
  });

  it('admin serves it on the admin port only', async () => {
    expect(await statuses(admin.url)).toEqual([404, 404, 404]);
    expect(await statuses(admin.service.adminUrl!)).toEqual([200, 200, 200]);
    expect((await fetch(`${admin.service.adminUrl}/healthz`)).status).toBe(200);
    const asBrowser = async (url: string) =>
      (await fetch(`${url}/bogus`, { headers: { Accept: 'text/html' } })).headers.get('content-type');
    expect(await asBrowser(admin.url)).toContain('json');
    expect(await asBrowser(admin.service.adminUrl!)).toContain('html');
  });
});

describe('a front end that was not built', () => {
  const empty = new SharedServer({}, { dashboardFiles: () => readDashboardFiles('/nowhere') });

  it('is reported by its pages', async () => {
    expect(await empty.send('/', {})).toMatchObject(
      refusal(404, 'the dashboard was not built: "npm run build" in the folder of Ballast builds it; restart the server afterwards'),
    );
  });
});
