import type { ServerResponse } from 'node:http';
import type { ResponseWriter, SendCallbacks, SendOptions } from '../adapter.js';
import { KEEP_ALIVE, writeHeaders } from '../answer-headers.js';
import type { Answer } from '../request.js';
import { streamBody, wholeBody } from '../stream-body.js';

/** Writes answers with Node's own server. */
export class NodeResponseWriter implements ResponseWriter {
  constructor(readonly response: ServerResponse) {}

  remoteAddress(): string {
    return this.response.req.socket.remoteAddress ?? '';
  }

  close(): void {
    this.response.req.socket.destroy();
  }

  send(answer: Answer, options: SendOptions, callbacks: SendCallbacks): () => void {
    const { status, rest } = answer;
    const body = wholeBody(answer);
    const { headOnly, close } = options;
    const { response } = this;
    const headers: string[] = [];
    writeHeaders(answer, options, (name, value) => void headers.push(name, value));
    // Without these, Node would add its own. In HTTP/1.0 only closing the connection ends a streamed answer.
    if (close || (rest && !response.useChunkedEncodingByDefault)) headers.push('Connection', 'close');
    else headers.push('Connection', 'keep-alive', 'Keep-Alive', KEEP_ALIVE);
    if (!rest) headers.push('Content-Length', String(Buffer.byteLength(body)));
    response.writeHead(status, headers);
    const { socket } = response.req;
    // Node also emits "finish" if the socket was destroyed before all was sent. This listener runs before Node's own, which closes the
    // socket.
    response.prependOnceListener('finish', () => socket.destroyed || callbacks.onSent());
    if (!rest || headOnly) {
      response.end(headOnly ? undefined : body);
      return () => {};
    }
    const writer = {
      write: (piece: Uint8Array) => response.write(piece),
      onWritable: (callback: () => void) => void response.on('drain', callback),
      end: () => void response.end(),
    };
    return streamBody(writer, body, rest, callbacks.onError);
  }
}
