import { App, us_socket_local_port } from 'uWebSockets.js';
import { answering } from './answering.js';

/**
 * The yardstick: a bare uWebSockets.js handler that reads a body and answers one. Told by message
 * what to answer; replies with its address.
 */

export interface BareAnswer {
  status: 200 | 201;
  bytes: number;
}

let status = '200 OK';
let body = '';

const app = App().post('/*', res => {
  res.onAborted(() => {});
  res.onData((_chunk, isLast) => {
    if (!isLast) return;
    res.cork(() => {
      res.writeStatus(status);
      res.end(body);
    });
  });
});
const url = new Promise<string>(resolve => {
  app.listen('127.0.0.1', 0, socket => {
    if (!socket) throw new Error('cannot listen');
    resolve(`http://127.0.0.1:${us_socket_local_port(socket)}`);
  });
});

answering<BareAnswer, string>(answer => {
  status = answer.status === 201 ? '201 Created' : '200 OK';
  body = 'x'.repeat(answer.bytes);
  return url;
});
