import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { Handler } from '../../src/http/exchange.js';
import { openNodeAdapter } from '../../src/http/node/adapter.js';
import { limits } from '../../src/limits.js';
import { httpServer } from '../harness/http-server.js';
import { listenWith } from '../harness/server.js';
import { createCertificate } from './create-certificate.js';
import { RawConnection, requestHead } from './raw-connection.js';

const isNode = httpServer === 'node';

/** Answers with the path, a turn later, and knows which requests it was handed and which answers were sent. */
function echo() {
  const seen = { begun: [] as string[], written: [] as boolean[], atOnce: 0, mostAtOnce: 0 };
  const handler: Handler = async ({ path }) => {
    seen.begun.push(path);
    seen.mostAtOnce = Math.max(seen.mostAtOnce, ++seen.atOnce);
    await new Promise(resolve => setImmediate(resolve));
    seen.atOnce -= 1;
    return { status: 200, body: JSON.stringify(path), written: ok => seen.written.push(ok) };
  };
  return { seen, handler };
}

/** An echo whose answer waits for `goOn`. */
function heldEcho() {
  const { seen, handler } = echo();
  let release = () => {};
  const held: Handler = async request => {
    const answer = await handler(request);
    await new Promise<void>(resolve => (release = resolve));
    return answer;
  };
  return { seen, handler: held, goOn: () => release() };
}

describe('a request of HTTP/1.0', () => {
  it.skipIf(!isNode)('is answered, and its connection closed, unless it wants to keep it', async () => {
    const server = await listenWith(echo().handler);
    const connection = await RawConnection.open(server.url);
    connection.send('GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
    const kept = await connection.reply();
    expect([kept?.text, kept?.headers.connection]).toEqual(['"/a"', 'keep-alive']);
    connection.send('GET /b HTTP/1.0\r\n\r\n');
    const last = await connection.reply();
    expect([last?.text, last?.headers.connection]).toEqual(['"/b"', 'close']);
    expect(await connection.closed()).toBe('');
  });

  it.skipIf(!isNode)('gets an answer in pieces without chunks, and is told that its connection closes', async () => {
    const rest = async function* () {
      yield Buffer.from('bc');
    };
    const server = await listenWith(() => ({ status: 200, body: 'a', rest: rest() }));
    const connection = await RawConnection.open(server.url);
    connection.send('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
    const all = await connection.closed();
    expect(all).toMatch(/\r\n\r\nabc$/);
    expect(all).toContain('Connection: close');
    expect(all.toLowerCase()).not.toContain('transfer-encoding');
  });

  it.skipIf(isNode)('is refused, and nothing is handed on', async () => {
    const { seen, handler } = echo();
    const server = await listenWith(handler);
    const connection = await RawConnection.open(server.url);
    connection.send('GET /a HTTP/1.0\r\nHost: a\r\n\r\n');
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 505 HTTP Version Not Supported\r\n/);
    expect(seen.begun).toEqual([]);
  });
});

describe('an answer to HEAD', () => {
  it('has the length of the body and leaves the connection open', async () => {
    const server = await listenWith(echo().handler);
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('HEAD /a', []));
    await once(connection.socket, 'data');
    connection.send(requestHead('GET /a', ['Connection: close']));
    const all = await connection.closed();
    expect(all.match(/^(HTTP|Content-Length).*/gm)).toEqual([
      'HTTP/1.1 200 OK',
      'Content-Length: 4',
      'HTTP/1.1 200 OK',
      'Content-Length: 4',
    ]);
    expect(all).toMatch(/\r\n\r\n"\/a"$/);
  });

  it('closes the connection when the request was refused for its head', async () => {
    const server = await listenWith(echo().handler);
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('HEAD /a', ['Host: again']));
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 400 /);
    await vi.waitFor(() => expect(server.http.connections).toBe(0), { interval: 1 });
  });
});

describe('a client that has left', () => {
  it.each([
    ['in the head of its next request', 'GET /b'],
    ['in a body that is larger than what is read ahead', `${requestHead('POST /b', ['Content-Length: 1000000'])}${' '.repeat(300_000)}`],
    ['in such a body in chunks', `${requestHead('POST /b', ['Transfer-Encoding: chunked'])}493e0\r\n${' '.repeat(300_000)}`],
  ])('%s is noticed before the answer', async (_, bytes) => {
    const { seen, handler, goOn } = heldEcho();
    const server = await listenWith(handler);
    const leaver = await RawConnection.open(server.url);
    leaver.send(requestHead('GET /a', []), bytes);
    await vi.waitFor(() => expect(seen.begun).toEqual(['/a']), { interval: 1 });
    leaver.socket.end();
    await vi.waitFor(() => expect(server.http.connections).toBe(0), { interval: 1 });
    goOn();
    await vi.waitFor(() => expect(seen).toMatchObject({ begun: ['/a'], written: [false] }), { interval: 1 });
  });
});

describe('a client that wants the connection closed', () => {
  it.skipIf(!isNode).each([
    ['with two Connection headers', ['Connection: close', 'Connection: keep-alive']],
    ['with Proxy-Connection', ['Proxy-Connection: close']],
  ])('(%s) is told that it is', async (_, fields) => {
    const server = await listenWith(echo().handler);
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('GET /a', fields));
    expect((await connection.reply())?.headers.connection).toBe('close');
    expect(await connection.closed()).toBe('');
  });
});

describe('a client that expects', () => {
  it('to be told to go on with the body is told so', async () => {
    const server = await listenWith(({ body }) => ({ status: 200, body: Buffer.concat(body) }));
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('POST /', ['Content-Length: 3', 'Expect: 100-continue']));
    expect((await connection.reply())?.status).toBe(100);
    connection.send('[1]');
    expect(await connection.reply()).toMatchObject({ status: 200, text: '[1]' });
  });

  it('anything else is answered all the same', async () => {
    const server = await listenWith(echo().handler);
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('GET /a', ['Expect: the unexpected']));
    expect((await connection.reply())?.text).toBe('"/a"');
  });
});

describe('requests that are sent ahead of the answers', () => {
  it('are all answered in their order, where answers are ready at once', async () => {
    const server = await listenWith(({ path }) => ({ status: 200, body: JSON.stringify(path) }));
    const connection = await RawConnection.open(server.url);
    connection.send(...['/a', '/b', '/c'].map(path => requestHead(`GET ${path}`, [])));
    for (const path of ['/a', '/b', '/c']) expect((await connection.reply())?.text).toBe(JSON.stringify(path));
  });

  it.skipIf(!isNode)('are answered one at a time, in their order, with and without bodies', async () => {
    const { seen, handler } = echo();
    const server = await listenWith(handler);
    const connection = await RawConnection.open(server.url);
    const paths = Array.from({ length: limits.pipelinedRequests }, (_, i) => `/${i}`);
    connection.send(
      ...paths.map((path, i) =>
        i % 2 === 0 ? requestHead(`GET ${path}`, []) : `${requestHead(`POST ${path}`, ['Content-Length: 3'])}[1]`,
      ),
    );
    for (const path of paths) expect((await connection.reply())?.text).toBe(JSON.stringify(path));
    expect(seen).toMatchObject({ begun: paths, mostAtOnce: 1 });
    expect(seen.written.every(Boolean)).toBe(true);
  });

  it.skipIf(!isNode)('are not begun behind an answer that closes the connection', async () => {
    const { seen, handler } = echo();
    const server = await listenWith(handler);
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('GET /a', []), requestHead('GET /b', ['Host: again']), requestHead('GET /c', []));
    expect((await connection.reply())?.status).toBe(200);
    expect((await connection.reply())?.status).toBe(400);
    expect(await connection.closed()).toBe('');
    expect(seen.begun).toEqual(['/a']);
    expect(server.http.requestsInFlight).toBe(0);
  });

  it.skipIf(!isNode)('are not begun when the client left', async () => {
    const { seen, handler, goOn } = heldEcho();
    const server = await listenWith(handler);
    const leaver = await RawConnection.open(server.url);
    leaver.send(requestHead('GET /a', []), requestHead('GET /b', []));
    await vi.waitFor(() => expect(seen.begun).toEqual(['/a']), { interval: 1 });
    leaver.leave();
    await vi.waitFor(() => expect(server.http.connections).toBe(0), { interval: 1 });
    goOn();
    await vi.waitFor(() => expect(seen).toMatchObject({ begun: ['/a'], written: [false] }), { interval: 1 });
    expect(server.http.requestsInFlight).toBe(0);
  });

  it.skipIf(!isNode).each<[what: string, count: number, fields: string[]]>([
    ['many', limits.pipelinedRequests + 2, []],
    ['large', 7, [`X-Long: ${'x'.repeat(12_000)}`]],
  ])('close the connection when they are too %s, and the first of them is left', async (_, count, fields) => {
    const { seen, handler } = echo();
    const server = await listenWith(handler);
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('GET /', fields).repeat(count));
    expect(await connection.closed()).toBe('');
    await vi.waitFor(() => expect(seen).toMatchObject({ begun: ['/'], written: [false] }), { interval: 1 });
  });

  it.skipIf(isNode)('close the connection where an answer takes a turn, and it is left', async () => {
    const { seen, handler } = echo();
    const server = await listenWith(handler);
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('GET /a', []), requestHead('GET /b', []));
    expect(await connection.closed()).toBe('');
    await vi.waitFor(() => expect(seen).toMatchObject({ begun: ['/a'], written: [false] }), { interval: 1 });
  });
});

describe('bytes after a request that are not a request', () => {
  it.skipIf(!isNode)('do not change its answer, and close the connection', async () => {
    const { seen, handler } = echo();
    const server = await listenWith(handler);
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('GET /a', []), 'nonsense\r\n\r\n');
    expect((await connection.reply())?.text).toBe('"/a"');
    expect(await connection.closed()).toBe('');
    expect(seen.begun).toEqual(['/a']);
  });
});

describe.skipIf(!isNode)('a connection', () => {
  const times = { headSeconds: 0.2, idleSeconds: 0.3 };

  it.each([
    ['on which nothing comes', ''],
    ['on which the rest of a body does not come', `${requestHead('POST /', ['Content-Length: 5'])}{`],
  ])('(%s) is closed after the idle time', async (_, bytes) => {
    const { seen, handler } = echo();
    const server = await listenWith(handler, { openAdapter: openNodeAdapter({ headSeconds: 60, idleSeconds: 0.1 }) });
    const connection = await RawConnection.open(server.url);
    connection.send(bytes);
    expect(await connection.closed()).toBe('');
    expect(seen.begun).toEqual([]);
    await vi.waitFor(() => expect(server.http.requestsInFlight).toBe(0), { interval: 1 });
  });

  it('on which a head does not arrive in time is answered with 408 and closed', async () => {
    const server = await listenWith(echo().handler, { openAdapter: openNodeAdapter({ ...times, idleSeconds: 60 }) });
    const connection = await RawConnection.open(server.url);
    connection.send('GET / HTTP/1.1\r\nHost');
    const reply = await connection.reply();
    expect(reply).toMatchObject({ status: 408, text: '{"errors":["the head of the request did not arrive within 0.2 seconds"]}' });
    expect(await connection.closed()).toBe('');
  });

  it('on which chunks come without a byte of the body is told, and closed', async () => {
    const { seen, handler } = echo();
    const server = await listenWith(handler, { bodySeconds: 0.2, openAdapter: openNodeAdapter({ headSeconds: 60, idleSeconds: 0.5 }) });
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('POST /', ['Transfer-Encoding: chunked']), '0\r\n');
    const drip = setInterval(() => connection.send('X: y\r\n'), 50);
    expect(await connection.reply()).toMatchObject({
      status: 408,
      text: '{"errors":["the request body did not arrive within 0.2 seconds"]}',
    });
    clearInterval(drip);
    expect(await connection.closed()).toBe('');
    expect(seen.begun).toEqual([]);
    expect(server.http.requestsInFlight).toBe(0);
  });

  it('whose request is worked on for longer than the idle time stays open', async () => {
    let ask = 0;
    const handler: Handler = async () => {
      if (++ask === 1) await new Promise(resolve => setTimeout(resolve, 900));
      return { status: 200, body: '{}' };
    };
    const server = await listenWith(handler, { openAdapter: openNodeAdapter(times) });
    const connection = await RawConnection.open(server.url);
    connection.send(requestHead('GET /', []));
    expect((await connection.reply())?.status).toBe(200);
    connection.send(requestHead('GET /', []));
    expect((await connection.reply())?.status).toBe(200);
  });

  it('whose client reads no more of a large answer is closed after the idle time', async () => {
    const told: boolean[] = [];
    const server = await listenWith(() => ({ status: 200, body: Buffer.alloc(40_000_000), written: ok => told.push(ok) }), {
      openAdapter: openNodeAdapter(times),
    });
    const connection = await RawConnection.open(server.url);
    connection.socket.pause();
    connection.send(requestHead('GET /', []));
    await vi.waitFor(() => expect(told).toEqual([false]), { timeout: 10_000, interval: 5 });
  });
});

describe.skipIf(!isNode)('a TLS handshake that fails', () => {
  it('is told in the log, and the server goes on', async () => {
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
    await vi.waitFor(() => expect(server.http.connections).toBe(0), { interval: 1 });
  });
});
