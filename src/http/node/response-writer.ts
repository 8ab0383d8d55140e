import type { ServerResponse } from 'node:http';
import type { ResponseWriter, SendCallbacks, SendOptions } from '../adapter.js';
import { KEEP_ALIVE, writeHeaders } from '../answer-headers.js';
import type { Answer } from '../request.js';
import { streamBody } from '../stream-body.js';

/** Answers with Node's own server. */
export class NodeResponseWriter implements ResponseWriter {
  constructor(readonly response: ServerResponse) {}

  remoteAddress(): string {
    return this.response.req.socket.remoteAddress ?? '';
  }

  close(): void {
    this.response.req.socket.destroy();
  }

  send(answer: Answer, manner: SendOptions, sent: SendCallbacks): () => void {
    const { status, body, rest } = answer;
    const { headOnly, close } = manner;
    const { response } = this;
    const headers: string[] = [];
    writeHeaders(answer, manner, (name, value) => void headers.push(name, value));
    // Node adds its own headers where these are missing. In HTTP/1.0 only closing the connection ends an answer in pieces.
    if (close || (rest && !response.useChunkedEncodingByDefault)) headers.push('Connection', 'close');
    else headers.push('Connection', 'keep-alive', 'Keep-Alive', KEEP_ALIVE);
    if (!rest) headers.push('Content-Length', String(Buffer.byteLength(body)));
    response.writeHead(status, headers);
    const { socket } = response.req;
    // Node emits "finish" also when the socket was destroyed before all was sent. This listener runs before Node's own, which closes the socket.
    response.prependOnceListener('finish', () => socket.destroyed || sent.onSent());
    if (!rest || headOnly) {
      response.end(headOnly ? undefined : body);
      return () => {};
    }
    const pieces = {
      write: (piece: Uint8Array) => response.write(piece),
      onWritable: (goOn: () => void) => void response.on('drain', goOn),
      end: () => void response.end(),
    };
    return streamBody(pieces, body, rest, sent.onError);
  }
}
