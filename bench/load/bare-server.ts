import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadUwebsockets, type Uwebsockets } from '../../src/server/http/uwebsockets/load.js';
import { answerMessages } from '../../test/testbed/worker-messages.js';

/**
 * The baseline: a bare handler that reads a body and answers with another one. It uses uWebSockets.js, or node:http on machines for which
 * that has no binary. A message sets the answer; its reply has the URL and the name of the library.
 */

export interface BareAnswer {
  status: 200 | 201;
  bytes: number;
}

export interface BareServer {
  url: string;
  name: 'uWebSockets.js' | 'node:http';
}

let status: 200 | 201 = 200;
let body = '';

const server = loadUwebsockets().then(({ uws }) => withUwebsockets(uws), withNode);

answerMessages<BareAnswer, BareServer>(answer => {
  status = answer.status;
  body = 'x'.repeat(answer.bytes);
  return server;
});

function withUwebsockets({ App, us_socket_local_port: portOf }: Uwebsockets): Promise<BareServer> {
  const app = App().post('/*', res => {
    res.onAborted(() => {});
    res.onData((_chunk, isLast) => {
      if (!isLast) return;
      res.cork(() => {
        res.writeStatus(status === 201 ? '201 Created' : '200 OK');
        res.end(body);
      });
    });
  });
  return new Promise(resolve => {
    app.listen('127.0.0.1', 0, socket => {
      if (!socket) throw new Error('the bare server cannot listen on a free port of 127.0.0.1');
      resolve({ url: `http://127.0.0.1:${portOf(socket)}`, name: 'uWebSockets.js' });
    });
  });
}

async function withNode(): Promise<BareServer> {
  const bare = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(status, { 'Content-Length': body.length });
      response.end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(bare, 'listening');
  return { url: `http://127.0.0.1:${(bare.address() as AddressInfo).port}`, name: 'node:http' };
}
