import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Answer, Api, type ApiOptions, RequestRejected, ServerUnreachable } from '../../../src/node/client/api.js';
import { answerWith } from '../../harness/proxy.js';

/** Starts a server with this handler. Returns a client and the requests that the server got. */
async function answering(
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  more: Partial<ApiOptions> = {},
): Promise<{ api: Api; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const url = await answerWith((request, response) => {
    requests.push(request);
    answer(request, response, requests.length);
  });
  return { api: new Api({ url: `${url}/v1/`, token: 'secret', retries: 3, clientVersion: '1.2.3', ...more }), requests };
}

const now = { 'Retry-After': '0' };
const anything = (answer: Answer) => answer;
const ok = (answer: Answer) => (answer.status === 200 && answer.body !== undefined ? answer : null);

describe('a request of a node', () => {
  it('carries the token and the client version, to an address with or without /v1', async () => {
    const { api, requests } = await answering((_, response) => response.writeHead(201).end());
    expect(await api.post('/v1/build_subsets', {}, anything)).toEqual({ status: 201, body: undefined, date: expect.any(String) as string });
    expect(requests[0]!.url).toBe('/v1/build_subsets');
    expect(requests[0]!.headers).toMatchObject({
      'service-test-suite-token': 'secret',
      'service-client-name': 'ballast',
      'service-client-version': '1.2.3',
      'x-retry-count': '0',
    });
  });

  it('is repeated after a server error, when Retry-After has passed', async () => {
    const { api, requests } = await answering((_, response, count) =>
      count < 3 ? response.writeHead(503, now).end('{"errors":["busy"]}') : response.end('{"a":1}'),
    );
    expect(await api.post('/x', {}, ok)).toEqual({ status: 200, body: { a: 1 }, date: expect.any(String) as string });
    expect(requests.map(({ headers }) => headers['x-retry-count'])).toEqual(['0', '1', '2']);
  });

  it('without an answer fails with the address and the number of attempts', async () => {
    const { api, requests } = await answering((_, response) => response.writeHead(500, now).end('{"errors":["it broke"]}'));
    const failed = api.post('/x', {}, ok);
    await expect(failed).rejects.toThrow(ServerUnreachable);
    await expect(failed).rejects.toThrow(/^no answer from POST http:\/\/127\.0\.0\.1:\d+\/x, 4 times \(it answered 500: it broke\)$/);
    expect(requests).toHaveLength(4);
    const gone = new Api({ url: 'http://127.0.0.1:1', token: '', retries: 0, clientVersion: '' });
    await expect(gone.post('/x', {}, ok)).rejects.toThrow(/^no answer from POST http:\/\/127\.0\.0\.1:1\/x \(.+\)$/);
  });

  it('with a truncated or late answer counts as unanswered', async () => {
    const cut = await answering(
      (_, response) => void response.writeHead(200, { 'Content-Length': '20' }).write('{}', () => response.destroy()),
      { retries: 0 },
    );
    await expect(cut.api.post('/x', {}, ok)).rejects.toThrow(ServerUnreachable);
    const late = await answering((_, response) => void response.writeHead(200).write('{'), { retries: 0, timeoutSeconds: 0.05 });
    await expect(late.api.get('/x', ok)).rejects.toThrow(ServerUnreachable);
  });

  it('that is refused is not repeated, and fails with the reason', async () => {
    const { api, requests } = await answering((_, response) => response.writeHead(422).end('{"errors":[{"branch":["is required"]}]}'));
    const refused = api.post('/x', {}, ok);
    await expect(refused).rejects.toThrow(RequestRejected);
    await expect(refused).rejects.toMatchObject({
      status: 422,
      exitCode: 3,
      message: expect.stringContaining('was refused with 422: branch: is required') as string,
    });
    expect(requests).toHaveLength(1);
  });

  it('that is redirected fails with the new address, and does not follow it', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { api, requests } = await answering((_, response) => response.writeHead(status, { Location: '/elsewhere' }).end('{}'));
      await expect(api.post('/x', {}, ok)).rejects.toThrow(
        `/x was answered with ${status}, a redirect to /elsewhere: give that address instead`,
      );
      await expect(api.get('/x', ok)).rejects.toThrow(RequestRejected);
      expect(requests).toHaveLength(2);
    }
  });

  it('fails with an excerpt of an answer outside the protocol', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    for (const [status, body, complaint] of [
      [200, '<html>Log in</html>', 'status 200, "<html>Log in</html>"'],
      [200, Buffer.from('{"a":"\xe9"}', 'latin1'), 'status 200, "{\\"a\\":\\"\ufffd\\"}"'],
      [200, Buffer.from('\ufeff{"a":1}', 'utf16le'), 'status 200, '],
      [200, `{"a":1}{"a":1}`, 'status 200, '],
      [200, deep, 'status 200, "[[['],
      [200, 'x'.repeat(100_000), `status 200, "${'x'.repeat(200)}"`],
      [200, '', 'status 200, an empty body'],
      [204, '', 'status 204, an empty body'],
      [206, '{"a":1}', 'status 206, '],
      [304, '', 'status 304, an empty body'],
    ] as const) {
      const { api, requests } = await answering((_, response) => response.writeHead(status).end(body));
      const strict = (answer: Answer) => (Array.isArray(answer.body) ? null : ok(answer));
      const refused = api.get('/x', strict);
      await expect(refused).rejects.toThrow(RequestRejected);
      await expect(refused).rejects.toThrow(`/x was not answered by a server of Ballast's protocol: ${complaint}`);
      expect(requests).toHaveLength(1);
    }
  });

  it('fails if an answer is too large, compressed or not', async () => {
    const zeros = Buffer.alloc(100_000, '0');
    const plain = await answering((_, response) => response.end(zeros), { maxBytes: 99_999 });
    await expect(plain.api.get('/x', ok)).rejects.toThrow('was answered with 200 and more than 99999 bytes');
    const packed = await answering((_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(zeros)), {
      maxBytes: 99_999,
    });
    await expect(packed.api.get('/x', ok)).rejects.toThrow(RequestRejected);
    const endless = await answering(
      (_, response) =>
        void (function more(error?: Error | null): void {
          if (!error) response.write(zeros, more);
        })(),
      { maxBytes: 99_999 },
    );
    await expect(endless.api.get('/x', ok)).rejects.toThrow(RequestRejected);
  });
});
