import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { Handler } from '../../../src/server/http/exchange.js';
import { openNodeAdapter } from '../../../src/server/http/nodejs/adapter.js';
import { PIPELINED_REQUESTS } from '../../../src/server/http/nodejs/request-pipeline.js';
import { httpServer } from '../../harness/http-server.js';
import { listenWith } from '../../harness/server.js';
import { createCertificate } from './create-certificate.js';
import { connectTo, RawConnection, requestHead } from './raw-connection.js';

const SOON = { timeout: 10_000, interval: 1 };

const isNode = httpServer === 'node';

/** A handler that answers with the path, a turn later, and a record of its requests and of the answers that were sent. */
function echo() {
  const calls = { started: [] as string[], written: [] as boolean[], concurrent: 0, maxConcurrent: 0 };
  const handler: Handler = async ({ path }) => {
    calls.started.push(path);
    calls.maxConcurrent = Math.max(calls.maxConcurrent, ++calls.concurrent);
    await new Promise(resolve => setImmediate(resolve));
    calls.concurrent -= 1;
    return { status: 200, body: JSON.stringify(path), onEnd: ok => calls.written.push(ok) };
  };
  return { calls, handler };
}

/** An echo whose answer waits for `release`. */
function heldEcho() {
  const { calls, handler } = echo();
  let release = () => {};
  const held: Handler = async request => {
    const answer = await handler(request);
    await new Promise<void>(resolve => (release = resolve));
    return answer;
  };
  return { calls, handler: held, release: () => release() };
}

describe('an HTTP/1.0 request', () => {
  it.skipIf(!isNode)('is answered, and closes its connection unless it asks for keep-alive', async () => {
    const { connection } = await connectTo(echo().handler, 'GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
    const kept = await connection.reply();
    expect([kept?.text, kept?.headers.connection]).toEqual(['"/a"', 'keep-alive']);
    connection.send('GET /b HTTP/1.0\r\n\r\n');
    const last = await connection.reply();
    expect([last?.text, last?.headers.connection]).toEqual(['"/b"', 'close']);
    expect(await connection.closed()).toBe('');
  });

  it.skipIf(!isNode)('gets a streamed answer without chunks, with Connection: close', async () => {
    const rest = async function* () {
      yield Buffer.from('bc');
    };
    const { connection } = await connectTo(
      () => ({ status: 200, body: 'a', rest: rest() }),
      'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
    );
    const bytes = await connection.closed();
    expect(bytes).toMatch(/\r\n\r\nabc$/);
    expect(bytes).toContain('Connection: close');
    expect(bytes.toLowerCase()).not.toContain('transfer-encoding');
  });

  it.skipIf(isNode)('is refused and does not reach the handler', async () => {
    const { calls, handler } = echo();
    const { connection } = await connectTo(handler, 'GET /a HTTP/1.0\r\nHost: a\r\n\r\n');
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 505 HTTP Version Not Supported\r\n/);
    expect(calls.started).toEqual([]);
  });
});

describe('an answer to HEAD', () => {
  it('has the length of the body and leaves the connection open', async () => {
    const { connection } = await connectTo(echo().handler, requestHead('HEAD /a'));
    await once(connection.socket, 'data');
    connection.send(requestHead('GET /a', ['Connection: close']));
    const bytes = await connection.closed();
    expect(bytes.match(/^(HTTP|Content-Length).*/gm)).toEqual([
      'HTTP/1.1 200 OK',
      'Content-Length: 4',
      'HTTP/1.1 200 OK',
      'Content-Length: 4',
    ]);
    expect(bytes).toMatch(/\r\n\r\n"\/a"$/);
  });

  it('closes the connection if the head was refused', async () => {
    const { server, connection } = await connectTo(echo().handler, requestHead('HEAD /a', ['Host: again']));
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 400 /);
    await vi.waitFor(() => expect(server.http.connections).toBe(0), SOON);
  });
});

describe('a client that leaves', () => {
  it.each([
    ['after its request', ''],
    ['in the head of its next request', 'GET /b'],
    ['in a body larger than the read buffer', `${requestHead('POST /b', ['Content-Length: 1000000'])}${' '.repeat(300_000)}`],
    [
      'in a chunked body larger than the read buffer',
      `${requestHead('POST /b', ['Transfer-Encoding: chunked'])}493e0\r\n${' '.repeat(300_000)}`,
    ],
  ])('%s is noticed before it is answered', async (_, bytes) => {
    const { calls, handler, release } = heldEcho();
    const { server, connection } = await connectTo(handler, requestHead('GET /a'), bytes);
    await vi.waitFor(() => expect(calls.started).toEqual(['/a']), SOON);
    connection.socket.end();
    await vi.waitFor(() => expect(server.http.connections).toBe(0), SOON);
    release();
    await vi.waitFor(() => expect(calls).toMatchObject({ started: ['/a'], written: [false] }), SOON);
    // The handler is told once.
    await new Promise(resolve => setImmediate(resolve));
    expect(calls.written).toEqual([false]);
  });
});

describe('a client that asks to close the connection', () => {
  it.skipIf(!isNode).each([
    ['with two Connection headers', ['Connection: close', 'Connection: keep-alive']],
    ['with Proxy-Connection', ['Proxy-Connection: close']],
  ])('(%s) gets Connection: close', async (_, fields) => {
    const { connection } = await connectTo(echo().handler, requestHead('GET /a', fields));
    expect((await connection.reply())?.headers.connection).toBe('close');
    expect(await connection.closed()).toBe('');
  });
});

describe('the Expect header', () => {
  it('with 100-continue is answered with 100', async () => {
    const { connection } = await connectTo(
      ({ body }) => ({ status: 200, body: Buffer.concat(body) }),
      requestHead('POST /', ['Content-Length: 3', 'Expect: 100-continue']),
    );
    expect((await connection.reply())?.status).toBe(100);
    connection.send('[1]');
    expect(await connection.reply()).toMatchObject({ status: 200, text: '[1]' });
  });

  it('with another value is ignored', async () => {
    const { connection } = await connectTo(echo().handler, requestHead('GET /a', ['Expect: the unexpected']));
    expect((await connection.reply())?.text).toBe('"/a"');
  });
});

describe('pipelined requests', () => {
  it('are answered in order, if the handler answers at once', async () => {
    const { connection } = await connectTo(
      ({ path }) => ({ status: 200, body: JSON.stringify(path) }),
      ...['/a', '/b', '/c'].map(path => requestHead(`GET ${path}`)),
    );
    for (const path of ['/a', '/b', '/c']) expect((await connection.reply())?.text).toBe(JSON.stringify(path));
  });

  it.skipIf(!isNode)('are answered one at a time and in order, with and without bodies', async () => {
    const { calls, handler } = echo();
    const { connection } = await connectTo(handler);
    const paths = Array.from({ length: PIPELINED_REQUESTS }, (_, i) => `/${i}`);
    connection.send(
      ...paths.map((path, i) => (i % 2 === 0 ? requestHead(`GET ${path}`) : `${requestHead(`POST ${path}`, ['Content-Length: 3'])}[1]`)),
    );
    for (const path of paths) expect((await connection.reply())?.text).toBe(JSON.stringify(path));
    expect(calls).toMatchObject({ started: paths, maxConcurrent: 1 });
    expect(calls.written.every(Boolean)).toBe(true);
  });

  it.skipIf(!isNode)('are not started after an answer that closes the connection', async () => {
    const { calls, handler } = echo();
    const { server, connection } = await connectTo(
      handler,
      requestHead('GET /a'),
      requestHead('GET /b', ['Host: again']),
      requestHead('GET /c'),
    );
    expect((await connection.reply())?.status).toBe(200);
    expect((await connection.reply())?.status).toBe(400);
    expect(await connection.closed()).toBe('');
    expect(calls.started).toEqual(['/a']);
    expect(server.http.requestsInFlight).toBe(0);
  });

  it.skipIf(!isNode)('are not started if the client left', async () => {
    const { calls, handler, release } = heldEcho();
    const { server, connection } = await connectTo(handler, requestHead('GET /a'), requestHead('GET /b'));
    await vi.waitFor(() => expect(calls.started).toEqual(['/a']), SOON);
    connection.leave();
    await vi.waitFor(() => expect(server.http.connections).toBe(0), SOON);
    release();
    await vi.waitFor(() => expect(calls).toMatchObject({ started: ['/a'], written: [false] }), SOON);
    expect(server.http.requestsInFlight).toBe(0);
  });

  it.skipIf(!isNode).each<[what: string, count: number, fields: string[]]>([
    ['many', PIPELINED_REQUESTS + 2, []],
    ['large', 7, [`X-Long: ${'x'.repeat(12_000)}`]],
  ])('close the connection if they are too %s, and the first is not answered', async (_, count, fields) => {
    const { calls, handler } = echo();
    const { connection } = await connectTo(handler, requestHead('GET /', fields).repeat(count));
    expect(await connection.closed()).toBe('');
    await vi.waitFor(() => expect(calls).toMatchObject({ started: ['/'], written: [false] }), SOON);
  });

  it.skipIf(isNode)('close the connection if the first answer takes a turn, and it is not sent', async () => {
    const { calls, handler } = echo();
    const { connection } = await connectTo(handler, requestHead('GET /a'), requestHead('GET /b'));
    expect(await connection.closed()).toBe('');
    await vi.waitFor(() => expect(calls).toMatchObject({ started: ['/a'], written: [false] }), SOON);
  });
});

describe('invalid bytes after a request', () => {
  it.skipIf(!isNode)('do not change its answer and close the connection', async () => {
    const { calls, handler } = echo();
    const { connection } = await connectTo(handler, requestHead('GET /a'), 'nonsense\r\n\r\n');
    expect((await connection.reply())?.text).toBe('"/a"');
    expect(await connection.closed()).toBe('');
    expect(calls.started).toEqual(['/a']);
  });
});

describe.skipIf(!isNode)('a connection', () => {
  const timeouts = { headSeconds: 0.2, idleSeconds: 0.3 };

  it.each([
    ['without a request', ''],
    ['whose body does not arrive completely', `${requestHead('POST /', ['Content-Length: 5'])}{`],
  ])('(%s) is closed after the idle timeout', async (_, bytes) => {
    const { calls, handler } = echo();
    const server = await listenWith(handler, { openAdapter: openNodeAdapter({ headSeconds: 60, idleSeconds: 0.1 }) });
    const connection = await RawConnection.open(server.url, bytes);
    expect(await connection.closed()).toBe('');
    expect(calls.started).toEqual([]);
    await vi.waitFor(() => expect(server.http.requestsInFlight).toBe(0), SOON);
  });

  it('whose head does not arrive in time is answered with 408 and closed', async () => {
    const server = await listenWith(echo().handler, { openAdapter: openNodeAdapter({ ...timeouts, idleSeconds: 60 }) });
    const connection = await RawConnection.open(server.url, 'GET / HTTP/1.1\r\nHost');
    const errors = ['the head of the request did not arrive within 0.2 seconds'];
    expect(await connection.reply()).toMatchObject({ status: 408, json: { errors } });
    expect(await connection.closed()).toBe('');
  });

  it('that receives chunks without a byte of the body is answered with 408 and closed', async () => {
    const { calls, handler } = echo();
    const server = await listenWith(handler, { bodySeconds: 0.2, openAdapter: openNodeAdapter({ headSeconds: 60, idleSeconds: 0.5 }) });
    const connection = await RawConnection.open(server.url, requestHead('POST /', ['Transfer-Encoding: chunked']), '0\r\n');
    const drip = setInterval(() => connection.send('X: y\r\n'), 50);
    expect(await connection.reply()).toMatchObject({
      status: 408,
      text: '{"errors":["the request body did not arrive within 0.2 seconds"]}',
    });
    clearInterval(drip);
    expect(await connection.closed()).toBe('');
    expect(calls.started).toEqual([]);
    expect(server.http.requestsInFlight).toBe(0);
  });

  it('whose answer takes longer than the idle timeout stays open', async () => {
    let requests = 0;
    const handler: Handler = async () => {
      if (++requests === 1) await new Promise(resolve => setTimeout(resolve, 900));
      return { status: 200, body: '{}' };
    };
    const server = await listenWith(handler, { openAdapter: openNodeAdapter(timeouts) });
    const connection = await RawConnection.open(server.url, requestHead('GET /'));
    expect((await connection.reply())?.status).toBe(200);
    connection.send(requestHead('GET /'));
    expect((await connection.reply())?.status).toBe(200);
  });

  it('whose client stops reading a large answer is closed after the idle timeout', async () => {
    const written: boolean[] = [];
    const server = await listenWith(() => ({ status: 200, body: Buffer.alloc(40_000_000), onEnd: ok => written.push(ok) }), {
      openAdapter: openNodeAdapter(timeouts),
    });
    const connection = await RawConnection.open(server.url);
    connection.socket.pause();
    connection.send(requestHead('GET /'));
    await vi.waitFor(() => expect(written).toEqual([false]), { timeout: 10_000, interval: 5 });
  });
});

describe.skipIf(!isNode)('a failed TLS handshake', () => {
  it('is logged, and the server continues', async () => {
    const { tlsCert: certFile, tlsKey: keyFile } = createCertificate('a');
    const server = await listenWith(echo().handler, { certificate: { certFile, keyFile } });
    const { hostname, port } = new URL(server.url);
    for (let i = 0; i < 3; i++) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket.resume(), 'close');
    }
    const failures = server.log.map(line => JSON.parse(line) as { msg: string }).filter(({ msg }) => msg === 'a TLS handshake failed');
    expect(failures).toEqual([expect.objectContaining({ level: 'warn', times: 1, client: '127.0.0.1', reason: 'http request' })]);
    await vi.waitFor(() => expect(server.http.connections).toBe(0), SOON);
  });
});
