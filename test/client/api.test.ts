import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Api, Refused, Unreachable } from '../../src/client/api.js';

/** A server that answers so; what it got. */
async function answering(answer: (request: IncomingMessage, response: ServerResponse, count: number) => void): Promise<{ api: Api; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response, requests.length);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  return { api: new Api({ url, token: 'secret', retries: 3, clientVersion: '1.2.3' }), requests };
}

const now = { 'Retry-After': '0' };

describe('a request of a node', () => {
  it('carries the token and who sends it, to the address with or without /v1', async () => {
    const { api, requests } = await answering((_, response) => response.writeHead(201).end());
    expect(await api.post('/v1/build_subsets', {})).toBeUndefined();
    expect(requests[0]!.url).toBe('/v1/build_subsets');
    expect(requests[0]!.headers).toMatchObject({ 'service-test-suite-token': 'secret', 'service-client-name': 'ballast', 'service-client-version': '1.2.3', 'x-retry-count': '0' });
  });

  it('is sent again when the server is in trouble, after what that says', async () => {
    const { api, requests } = await answering((_, response, count) => (count < 3 ? response.writeHead(503, now).end('{"errors":["busy"]}') : response.end('{"a":1}')));
    expect(await api.post('/x', {})).toEqual({ a: 1 });
    expect(requests.map(({ headers }) => headers['x-retry-count'])).toEqual(['0', '1', '2']);
  });

  it('that is never answered says what was tried', async () => {
    const { api, requests } = await answering((_, response) => response.writeHead(500, now).end('{"errors":["it broke"]}'));
    const failed = api.post('/x', {});
    await expect(failed).rejects.toThrow(Unreachable);
    await expect(failed).rejects.toThrow(/^no answer from POST http:\/\/127\.0\.0\.1:\d+\/x, 4 times \(it answered 500: it broke\)$/);
    expect(requests).toHaveLength(4);
    const gone = new Api({ url: 'http://127.0.0.1:1', token: '', retries: 0, clientVersion: '' });
    await expect(gone.post('/x', {})).rejects.toThrow(/^no answer from POST http:\/\/127\.0\.0\.1:1\/x \(.+\)$/);
  });

  it('that is refused is not sent again, and tells why', async () => {
    const { api, requests } = await answering((_, response) => response.writeHead(422).end('{"errors":[{"branch":["is required"]}]}'));
    const refused = api.post('/x', {});
    await expect(refused).rejects.toThrow(Refused);
    await expect(refused).rejects.toThrow('was refused with 422: {"branch":["is required"]}');
    expect(requests).toHaveLength(1);
  });

  it('that is redirected is refused with where to, and takes its token nowhere', async () => {
    const { api, requests } = await answering((_, response) => response.writeHead(301, { Location: '/elsewhere' }).end());
    await expect(api.post('/x', {})).rejects.toThrow('/x was answered with a redirect to /elsewhere: give the address that this leads to');
    expect(requests).toHaveLength(1);
  });

  it('that something else answers is refused, too', async () => {
    const { api } = await answering((_, response) => response.end('<html>Log in</html>'));
    await expect(api.post('/x', {})).rejects.toThrow('was not answered by Ballast: "<html>Log in</html>"');
  });
});
