import { describe, expect, vi } from 'vitest';
import { type Client, refusal } from '../../harness/client.js';
import { httpServer } from '../../harness/http-server.js';
import { manyPaths, splitMessage, subsetMessage, testFiles, uuidPattern } from '../../harness/messages.js';
import { SharedServer, startServer, testsWith } from '../../harness/server.js';
import { postRequest, RawConnection, requestHead } from './raw-connection.js';

/** Only for requests that are refused and change nothing. */
const shared = new SharedServer();
const it = testsWith(shared);
const server: Client = shared;

async function countBuilds(server: Client): Promise<number> {
  return (await server.get('/v1/builds')).json.data.length;
}

const REQUIRED = ['parameter is required'];
const record = JSON.stringify(subsetMessage());
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describe('an ambiguous or malformed request', () => {
  const once = `Content-Length: ${record.length}`;

  it.each<[situation: string, fields: string[], body: string]>([
    ['Content-Length twice', [once, 'Content-Length: 5'], record],
    ['the same Content-Length twice', [once, once], record],
    ['Content-Length before chunks', [once, 'Transfer-Encoding: chunked'], `${chunk(record)}0\r\n\r\n`],
    ['chunks before Content-Length', ['Transfer-Encoding: chunked', once], `${chunk(record)}0\r\n\r\n`],
    ['another Transfer-Encoding', ['Transfer-Encoding: gzip'], record],
    ['two Transfer-Encodings', ['Transfer-Encoding: gzip, chunked'], `${chunk(record)}0\r\n\r\n`],
    ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], `${chunk(record)}0\r\n\r\n`],
    ['a disguised chunked', ['Transfer-Encoding: xchunked'], `${chunk(record)}0\r\n\r\n`],
    ['a negative Content-Length', ['Content-Length: -1'], record],
    ['a Content-Length that is not a number', ['Content-Length: 5a'], record],
    ['a signed Content-Length', [`Content-Length: +${record.length}`], record],
    ['a hexadecimal Content-Length', [`Content-Length: 0x${record.length.toString(16)}`], record],
    ['a list of lengths', [`Content-Length: ${record.length}, ${record.length}`], record],
    ['an empty Content-Length', ['Content-Length:'], ''],
    ['an empty Content-Length before chunks', ['Content-Length:', 'Transfer-Encoding: chunked'], `${chunk(record)}0\r\n\r\n`],
    ['an empty Transfer-Encoding', ['Transfer-Encoding:'], ''],
    ['an empty Transfer-Encoding before chunks', ['Transfer-Encoding:', 'Transfer-Encoding: chunked'], `${chunk(record)}0\r\n\r\n`],
    ['white space before the colon of Content-Length', [`Content-Length : ${record.length}`], record],
    ['white space before the colon of Transfer-Encoding', ['Transfer-Encoding : chunked'], `${chunk(record)}0\r\n\r\n`],
    ['a folded Content-Length', [`X: y\r\n Content-Length: ${record.length}`], record],
    ['a huge Content-Length', ['Content-Length: 99999999999999999999999'], record],
    ['a chunk size that is not a number', ['Transfer-Encoding: chunked'], `zz\r\n${record}\r\n0\r\n\r\n`],
    ['a huge chunk size', ['Transfer-Encoding: chunked'], `fffffffffffffffff\r\n${record}`],
    ['a chunk size that overflows', ['Transfer-Encoding: chunked'], `1000000000000000${chunk(record)}0\r\n\r\n`],
    ['a negative chunk size', ['Transfer-Encoding: chunked'], `-${chunk(record)}0\r\n\r\n`],
    ['a chunk size with a prefix', ['Transfer-Encoding: chunked'], `0x${chunk(record)}0\r\n\r\n`],
  ])('(%s) is refused: nothing is recorded, and the bytes after it are not answered', async (_, fields, body) => {
    const connection = await RawConnection.open(server.url);
    const token = `SERVICE-TEST-SUITE-TOKEN: ${server.token}`;
    connection.send(requestHead('POST /v1/build_subsets', [token, ...fields]), body, requestHead('GET /healthz'));
    const reply = await connection.reply();
    if (reply) expect(reply.status).toBe(400);
    connection.socket.end();
    expect(await connection.closed()).not.toContain('200 OK');
    expect(await countBuilds(server)).toBe(0);
  });

  it.each([
    ['Content-Length is sent twice', /^Duplicate Content-Length$/, [once, once], record],
    [
      'Transfer-Encoding must be chunked or absent',
      /^Invalid `Transfer-Encoding` header value$/,
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      `${chunk(record)}0\r\n\r\n`,
    ],
  ])('gets the reason (%s), and its connection is closed', async (reason, nodeReason, fields, body) => {
    const connection = await RawConnection.open(server.url, requestHead('POST /v1/build_subsets', fields), body);
    const reply = await connection.reply();
    expect(reply?.status).toBe(400);
    const [error = ''] = (reply!.json as { errors: string[] }).errors;
    const received = error.replace('malformed request: ', '');
    if (httpServer === 'node') {
      expect(received).toMatch(nodeReason);
    } else {
      expect(received).toBe(reason);
      expect(reply?.headers['x-request-id']).toMatch(uuidPattern);
    }
    expect(await connection.closed()).toBe('');
  });

  it.each([
    ['two Hosts', requestHead('GET /healthz', ['Host: another'])],
    ['bytes that are not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['two Hosts, one of them empty', 'GET /healthz HTTP/1.1\r\nHost:\r\nHost: a\r\n\r\n'],
    ['HTTP/2 without its preface', 'GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n'],
    ['HTTP/0.9', 'GET /healthz HTTP/0.9\r\nHost: a\r\n\r\n'],
    ['chunks in HTTP/1.0', 'POST /healthz HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['no Host', 'GET /healthz HTTP/1.1\r\nX-Host: a\r\n\r\n'],
    ['white space before a colon', 'GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['a folded header', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n'],
    ['a folded first header', 'GET /healthz HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n'],
    ['a header without a colon', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX\r\n\r\n'],
    ['NUL in a value', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: y\0z\r\n\r\n'],
    ['NUL in a name', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX\0: y\r\n\r\n'],
    ['NUL in the path', 'GET /healthz\0 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a byte above 127 in a name', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX\x80: y\r\n\r\n'],
    ['LF after the request line', 'GET /healthz HTTP/1.1\nHost: a\r\n\r\n'],
    ['LF after a header', 'GET /healthz HTTP/1.1\r\nHost: a\nX: y\r\n\r\n'],
    ['LF at the end', 'GET /healthz HTTP/1.1\r\nHost: a\r\n\n'],
    ['CR at the end', 'GET /healthz HTTP/1.1\r\nHost: a\r\n\rX\r\n\r\n'],
    ['a space in the path', 'GET /healthz /x HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['HTTP/1.2', 'GET /healthz HTTP/1.2\r\nHost: a\r\n\r\n'],
    ['a head of 64 KB', requestHead('GET /healthz', [`X-Long: ${'x'.repeat(65_536)}`])],
    ['200 headers', requestHead('GET /healthz', Array<string>(200).fill('X: 1'))],
  ])('(%s) is refused, and the server continues', async (_, bytes) => {
    const connection = await RawConnection.open(server.url, Buffer.from(bytes, 'latin1'));
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 (400|431|505) /);
    expect((await server.get('/healthz')).json).toEqual({ status: 'ok' });
  });
});

describe('a request with chunks', () => {
  const head = requestHead('GET /healthz', ['Transfer-Encoding: chunked']);
  const smuggled = () => postRequest('/v1/build_subsets', shared.token, record);

  it.each([
    ['well-formed', '3\r\nabc\r\n0\r\n\r\n'],
    ['with an extension', '3;a=b\r\nabc\r\n0\r\n\r\n'],
    ['with an empty extension', '3;\r\nabc\r\n0\r\n\r\n'],
    ['with text after a size', '3 x\r\nabc\r\n0\r\n\r\n'],
    ['with bytes above 127 after a size', '3\x80\r\nabc\r\n0\r\n\r\n'],
    ['with "g" as a size', 'g\r\n0123456789abcdef\r\n0\r\n\r\n'],
    ['without a size', '\r\n\r\n'],
    ['with LF after a size', '3\nabc\r\n0\r\n\r\n'],
    ['with LF after the last size', '3\r\nabc\r\n0\n\r\n'],
    ['without CR and LF after a chunk', '3\r\nabcXX0\r\n\r\n'],
    ['without CR and LF at the end', '3\r\nabc\r\n0\r\nXX'],
    ['with a trailer', '3\r\nabc\r\n0\r\nX: y\r\n\r\n'],
  ])('(%s) is the last of its connection: the bytes after it are not read as a request', async (_, body) => {
    const connection = await RawConnection.open(server.url, Buffer.from(head + body + smuggled(), 'latin1'));
    connection.socket.end();
    await connection.closed();
    expect(await countBuilds(server)).toBe(0);
  });

  it('gets Connection: close, and a request that is sent after the answer is not read', async () => {
    const connection = await RawConnection.open(server.url, head, '3\r\nabc\r\n0\r\n\r\n');
    expect(await connection.reply()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    connection.send(smuggled());
    expect(await connection.closed()).toBe('');
    expect(await countBuilds(server)).toBe(0);
  });
});

describe('a request body', () => {
  it('may arrive in chunks or byte by byte', async ({ server }) => {
    const token = `SERVICE-TEST-SUITE-TOKEN: ${server.token}`;
    const chunked = await RawConnection.open(server.url, requestHead('POST /v1/build_subsets', [token, 'Transfer-Encoding: chunked']));
    chunked.send(chunk(record.slice(0, 7)));
    chunked.send(chunk(record.slice(7, 50)), chunk(record.slice(50)), '0\r\n\r\n');
    expect(await chunked.reply()).toMatchObject({ status: 201, text: '' });

    const slow = await RawConnection.open(server.url);
    const [line, rest] = postRequest('/v1/build_subsets', server.token, record).split(/(?<=\n)([\s\S]*)/) as [string, string];
    slow.send(line);
    for (const byte of rest) {
      slow.send(byte);
      await new Promise(resolve => setImmediate(resolve));
    }
    expect(await slow.reply()).toMatchObject({ status: 201, text: '' });
    // The connection can be used again.
    slow.send(postRequest('/v1/build_subsets', server.token, record));
    expect(await slow.reply()).toMatchObject({ status: 201, text: '' });
  });

  it.for([10, 4000, 30_000])('that is large is complete if it arrives in chunks of %i bytes', async (bytes, { server }) => {
    const paths = manyPaths(2000);
    const body = JSON.stringify(splitMessage({ cache_read_attempt: false, node_total: 1, test_files: testFiles(paths) }));
    const pieces = Array.from({ length: Math.ceil(body.length / bytes) }, (_, i) => chunk(body.slice(i * bytes, (i + 1) * bytes)));
    const connection = await RawConnection.open(
      server.url,
      requestHead('POST /v1/build_distributions/subset', [`SERVICE-TEST-SUITE-TOKEN: ${server.token}`, 'Transfer-Encoding: chunked']),
    );
    connection.send(...pieces, '0\r\n\r\n');
    const { test_files } = (await connection.reply())!.json as { test_files: { path: string }[] };
    expect(test_files.map(({ path }) => path)).toEqual(paths);
  });

  it('that is cut off records nothing, and the server continues', async () => {
    const server = await startServer();
    const request = postRequest('/v1/build_subsets', server.token, record);
    for (const length of [10, request.length - record.length, request.length - 1]) {
      const connection = await RawConnection.open(server.url, request.slice(0, length));
      connection.leave();
    }
    // The head of the first request did not arrive.
    const disconnects = () => server.log.filter(line => line.includes('client left'));
    await vi.waitFor(() => expect(disconnects()).toHaveLength(2), { timeout: 10_000, interval: 5 });
    expect(await countBuilds(server)).toBe(0);
    expect((await server.post('/v1/build_subsets', record)).status).toBe(201);
  });

  it('of 33 MB gets a 413, with and without a declared length', async ({ server }) => {
    const errors = ["the request body is larger than 33554432 bytes; the server's setting BALLAST_MAX_BODY_BYTES raises the limit"];
    const body = Buffer.alloc(33 * 1024 * 1024, ' ');
    expect(await server.post('/v1/queues/queue', body)).toMatchObject(refusal(413, ...errors));

    const connection = await RawConnection.open(server.url, requestHead('POST /v1/queues/queue', ['Transfer-Encoding: chunked']));
    connection.send(`${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n');
    expect(await connection.reply()).toMatchObject(refusal(413, ...errors));
  });

  it.for(['{}', '[]'])('with megabytes of %s gets a 413 before it is parsed', async (empty, { server }) => {
    const files = `"test_files":[${Array<string>(1_000_001).fill(empty).join()}]`;
    const body = JSON.stringify(splitMessage({ cache_read_attempt: false })).replace(/}$/, `,${files}}`);
    expect(await server.post('/v1/build_distributions/subset', body)).toMatchObject(
      refusal(413, 'the request body has more than 1000000 JSON objects and arrays; no valid request needs that many'),
    );
  });

  it.each([
    ['lists', '[', ']', { test_files: [{ 0: { path: REQUIRED, time_execution: REQUIRED } }] }],
    ['objects', '{"a":', '}', { test_files: ['is not an array'] }],
  ])('with %s 200,000 deep is accepted or refused, wherever they are', async (_, open, close, complaints) => {
    const deep = `${open.repeat(200_000)}1${close.repeat(200_000)}`;
    const unknown = JSON.stringify(splitMessage()).replace('{', `{"unknown":${deep},`);
    const missed = await server.post('/v1/build_distributions/subset', unknown);
    expect(missed).toMatchObject({ status: 200, json: { code: 'TEST_SUITE_SPLIT_CACHE_MISS' } });
    for (const [body, errors] of [
      [record.replace('"main"', deep), [{ branch: ['is not a string'] }]],
      [record.replace(/"test_files":.*/, `"test_files":${deep}}`), [complaints]],
    ] as const)
      expect(await server.post('/v1/build_subsets', body)).toMatchObject(refusal(422, ...errors));
  });

  it('with keys that every object has does not change any object', async ({ server }) => {
    const keys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];
    const evil = keys.map(key => `${JSON.stringify(key)}:{"branch":"evil","polluted":true,"token":"x"}`).join();
    const full = JSON.stringify(subsetMessage()).replace('{', `{${evil},`);
    expect(await server.post('/v1/build_subsets', full)).toMatchObject({ status: 201, text: '' });
    expect((await server.get('/v1/builds')).json.data).toMatchObject([{ branch: 'main' }]);

    // Their values do not replace a parameter or a field of a test file either.
    const inherited = JSON.stringify(subsetMessage({ branch: undefined })).replace('{', `{${evil},`);
    expect((await server.post('/v1/build_subsets', inherited)).json).toEqual({ errors: [{ branch: REQUIRED }] });
    const file = '{"__proto__":{"path":"evil_spec.rb","time_execution":1}}';
    const files = JSON.stringify(subsetMessage({ test_files: [] })).replace('[]', `[${file}]`);
    expect((await server.post('/v1/build_subsets', files)).json).toEqual({
      errors: [{ test_files: [{ 0: { path: REQUIRED, time_execution: REQUIRED } }] }],
    });
    expect((await server.get('/v1/builds?__proto__=x&constructor=y')).json.data).toHaveLength(1);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
