import type { ServerResponse } from 'node:http';
import type { Manner, Reply, Sent } from '../front.js';
import { sendPieces } from '../pieces.js';
import type { Answer } from '../request.js';
import { KEEP_ALIVE } from '../status-lines.js';

/** Answers with Node's own server. */
export class NodeReply implements Reply {
  constructor(readonly response: ServerResponse) {}

  remoteAddress(): string {
    return this.response.req.socket.remoteAddress ?? '';
  }

  close(): void {
    this.response.req.socket.destroy();
  }

  send({ status, body, rest, contentType = 'application/json', headers: own }: Answer, manner: Manner, sent: Sent): () => void {
    const { request, headers: more, headOnly, close } = manner;
    const { response } = this;
    const headers: string[] = [];
    if (body.length > 0) headers.push('Content-Type', contentType);
    // An answer is valid only now, and only for the owner of the token.
    headers.push('X-Request-Id', request, 'Cache-Control', 'no-store');
    for (const name in more) headers.push(name, more[name]!);
    if (own) for (const name in own) headers.push(name, own[name]!);
    // Node adds its own headers where these are missing. In HTTP/1.0 only closing the connection ends an answer in pieces.
    if (close || (rest && !response.useChunkedEncodingByDefault)) headers.push('Connection', 'close');
    else headers.push('Connection', 'keep-alive', 'Keep-Alive', KEEP_ALIVE);
    if (!rest) headers.push('Content-Length', String(Buffer.byteLength(body)));
    response.writeHead(status, headers);
    const { socket } = response.req;
    // Node emits "finish" also when the socket was destroyed before all was sent. This listener runs before Node's own, which closes the socket.
    response.prependOnceListener('finish', () => socket.destroyed || sent.end());
    if (!rest || headOnly) {
      response.end(headOnly ? undefined : body);
      return () => {};
    }
    const pieces = {
      write: (piece: Uint8Array) => response.write(piece),
      onWritable: (goOn: () => void) => void response.on('drain', goOn),
      end: () => void response.end(),
    };
    return sendPieces(pieces, body, rest, sent.fail);
  }
}
