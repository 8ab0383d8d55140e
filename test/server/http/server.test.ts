import assert from 'node:assert/strict';
import { describe, expect, it, vi } from 'vitest';
import { httpErrors } from '../../../src/server/http/api-error.js';
import type { Handler } from '../../../src/server/http/exchange.js';
import { MemoryBudget } from '../../../src/server/http/in-flight.js';
import type { Request } from '../../../src/server/http/request.js';
import { Client, type Reply, refusal } from '../../harness/client.js';
import { listenWith } from '../../harness/server.js';
import { connectTo, RawConnection, requestHead } from './raw-connection.js';

/** A handler whose answers wait for `answer`. */
function heldHandler() {
  let [received, answer] = [0, () => {}];
  const answering = new Promise<void>(resolve => (answer = resolve));
  const handler: Handler = async () => {
    received += 1;
    await answering;
    return { status: 200, body: '{}' };
  };
  const hasReceived = (count: number) => vi.waitFor(() => expect(received).toBe(count), { timeout: 10_000, interval: 1 });
  return { handler, answer, hasReceived };
}

describe('the memory of requests in flight', () => {
  const MEGABYTE = 1_000_000;
  const OVERLOADED = /^overloaded: too many large (requests|answers) at once; try again in 2 seconds$/;

  function expectRefused(reply: Reply): void {
    expect(reply).toMatchObject(refusal(503, expect.stringMatching(OVERLOADED)));
    expect(reply.headers.get('retry-after')).toBe('2');
  }

  it('is limited, to half of it for one token, and released when they are answered', async () => {
    const { handler, answer, hasReceived } = heldHandler();
    const server = await listenWith(handler, { memory: new MemoryBudget(4 * MEGABYTE), maxBodyBytes: 2 * MEGABYTE });
    const other = new Client(server.url, 'another-token');
    const send = (client: Client) => client.post('/', 'x'.repeat(MEGABYTE));
    const held = [send(server), send(server), send(other)];
    await hasReceived(3);
    expectRefused(await send(server));
    const last = send(other);
    await hasReceived(4);
    expectRefused(await send(new Client(server.url, 'a-third-token')));
    answer();
    expect((await Promise.all([...held, last])).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await send(server)).status).toBe(200);
  });

  it('is limited to half of it for all unknown tokens together', async () => {
    const { handler, answer } = heldHandler();
    const server = await listenWith(handler, { memory: new MemoryBudget(4 * MEGABYTE), maxBodyBytes: 2 * MEGABYTE });
    const unknownTokens = ['x', 'y', 'z'].map(token => new Client(server.url, token).post('/', 'x'.repeat(MEGABYTE)));
    expectRefused(await Promise.race(unknownTokens));
    const knownToken = server.post('/', 'x'.repeat(MEGABYTE));
    answer();
    expect((await knownToken).status).toBe(200);
  });

  it('includes large answers that are not read', async () => {
    const body = Buffer.alloc(20 * MEGABYTE, 0x20);
    const written: boolean[] = [];
    const server = await listenWith(() => ({ status: 200, body, onEnd: ok => written.push(ok) }), {
      memory: new MemoryBudget(80 * MEGABYTE),
    });
    const readers = await Promise.all([0, 1].map(() => RawConnection.open(server.url)));
    for (const reader of readers) {
      reader.socket.pause();
      reader.send(requestHead('GET /', ['SERVICE-TEST-SUITE-TOKEN: a-token']));
    }
    let refused = await server.get('/');
    while (refused.status === 200) refused = await server.get('/');
    expectRefused(refused);
    expect(written.at(-1)).toBe(false);
    const head = async (token: string) =>
      (await server.send('/', { headers: { 'SERVICE-TEST-SUITE-TOKEN': token }, method: 'HEAD' })).status;
    expect(await head('another-token')).toBe(200);
    for (const reader of readers) reader.leave();
    await vi.waitFor(async () => expect(await head('a-token')).toBe(200), { timeout: 10_000, interval: 5 });
  });
});

const SECRET = 'secret: disk /dev/sda is full';

describe('a handler', () => {
  it.each<[situation: string, handler: Handler]>([
    ['throws', () => assert.fail(SECRET)],
    ['rejects', () => Promise.reject(new Error(SECRET))],
  ])('that %s gets a 500 without internals, which are logged with the request id', async (_, handler) => {
    const server = await listenWith(handler);
    const reply = await server.post('/v1/builds', {}, { 'X-Request-Id': 'id-1' });
    expect(reply).toMatchObject(refusal(500, "internal error; the server's log has the details under the request id id-1"));
    expect(reply.headers.get('x-request-id')).toBe('id-1');
    const logged = server.log.map(line => JSON.parse(line)).find(line => line.msg === 'internal');
    expect(logged).toMatchObject({ request: 'id-1', method: 'POST', err: { message: SECRET } });
  });

  it('that throws an ApiError gets its status and headers sent', async () => {
    const server = await listenWith(() => Promise.reject(httpErrors.overloaded('memory', 'too much', 2)));
    const reply = await server.get('/');
    expect(reply).toMatchObject(refusal(503, 'overloaded: too much; try again in 2 seconds'));
    expect(reply.headers.get('retry-after')).toBe('2');
  });

  it('can read the request after the library has discarded it, except the body', async () => {
    let seen: Request | null = null;
    let body = '';
    const server = await listenWith(async request => {
      body = Buffer.concat(request.body).toString();
      await new Promise(resolve => setImmediate(resolve));
      seen = request;
      return { status: 200, body: '{}' };
    });
    await server.send('//v1/x?a=%20b&c', {
      method: 'POST',
      body: '{"größe":1}',
      headers: {
        'Content-Type': 'text/plain',
        'X-Retry-Count': '2',
        'X-Request-Id': 'id-1',
        'service-test-suite-token': 'a-token',
        'SERVICE-CLIENT-NAME': 'name',
        'SERVICE-CLIENT-VERSION': '1.2',
      },
    });
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/v1/x',
      query: 'a=%20b&c',
      id: 'id-1',
      host: server.url.slice('http://'.length),
      contentType: 'text/plain',
      token: 'a-token',
      clientName: 'name',
      clientVersion: '1.2',
      retryCount: 2,
    });
    expect(body).toBe('{"größe":1}');
  });

  it('is notified if the client left in the middle of a long answer', async () => {
    const body = Buffer.alloc(64_000_000, ' ');
    let onWritten: (ok: boolean) => void = () => {};
    const written = new Promise<boolean>(resolve => (onWritten = resolve));
    const { connection } = await connectTo(() => ({ status: 200, body, onEnd: onWritten }));
    connection.socket.once('data', () => connection.leave());
    connection.send(requestHead('GET /'));
    expect(await written).toBe(false);
  });

  it('may return an answer larger than the socket buffer', async () => {
    const body = JSON.stringify(Array.from({ length: 500_000 }, (_, i) => i));
    const server = await listenWith(() => ({ status: 200, body }));
    expect((await server.get('/')).text === body).toBe(true);
  });
});

describe('a body that does not arrive', () => {
  it('gets a 408 after the time limit, and the connection is closed', async () => {
    const server = await listenWith(() => ({ status: 200, body: '{}' }), { bodySeconds: 0.05 });
    const connection = await RawConnection.open(server.url, requestHead('POST /', ['Content-Length: 100']), '{"a":');
    expect(await connection.reply()).toMatchObject({
      status: 408,
      headers: { 'x-request-id': expect.any(String) as string },
      json: { errors: ['the request body did not arrive within 0.05 seconds'] },
    });
    expect(await connection.closed()).toBe('');
  });
});

describe('draining', () => {
  it('waits for answers in flight and refuses new connections', async () => {
    const { handler, answer, hasReceived } = heldHandler();
    const server = await listenWith(handler);
    const reply = server.get('/');
    await hasReceived(1);
    const drained = server.http.drain();
    await expect(RawConnection.open(server.url)).rejects.toThrow(/ECONNREFUSED/);
    answer();
    expect(await reply).toMatchObject({ status: 200, json: {} });
    await drained;
  });
});
