import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What becomes of a request: which server it is passed to, and whether its answer is lost on the way back. */
export interface Route {
  url: string;
  loseAnswer?: boolean;
}

/** A proxy in front of servers, closed after the test; returns its address. */
export async function startProxy(passageOf: (request: IncomingMessage) => Route): Promise<string> {
  const proxy = createServer((request, response) => {
    const { method, headers, url } = request;
    const route = passageOf(request);
    const passed = httpRequest(`${route.url}${url}`, { method: method!, headers }, answer => {
      if (route.loseAnswer) return void response.destroy();
      response.writeHead(answer.statusCode!, answer.headers);
      return void answer.pipe(response);
    });
    request.pipe(passed);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close().closeAllConnections());
  await once(proxy, 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}
