import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** The server that gets a request, and whether its answer is lost. */
export interface Route {
  url: string;
  loseAnswer?: boolean;
}

/** Starts an HTTP server that is closed after the test, and returns its address. */
export async function answerWith(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a proxy, which is closed after the test, and returns its address. */
export function startProxy(routeOf: (request: IncomingMessage) => Route): Promise<string> {
  return answerWith((request, response) => {
    const { method, headers, url } = request;
    const route = routeOf(request);
    const forwarded = httpRequest(`${route.url}${url}`, { method: method!, headers }, answer => {
      if (route.loseAnswer) return void response.destroy();
      response.writeHead(answer.statusCode!, answer.headers);
      return void answer.pipe(response);
    });
    request.pipe(forwarded);
  });
}
