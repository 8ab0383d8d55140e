import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** The server that gets a request, and whether its answer is lost. */
export interface Route {
  url: string;
  loseAnswer?: boolean;
}

/** Starts a proxy, which is closed after the test, and returns its address. */
export async function startProxy(routeOf: (request: IncomingMessage) => Route): Promise<string> {
  const proxy = createServer((request, response) => {
    const { method, headers, url } = request;
    const route = routeOf(request);
    const forwarded = httpRequest(`${route.url}${url}`, { method: method!, headers }, answer => {
      if (route.loseAnswer) return void response.destroy();
      response.writeHead(answer.statusCode!, answer.headers);
      return void answer.pipe(response);
    });
    request.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close().closeAllConnections());
  await once(proxy, 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}
